// Describes arguments and results without repeating them: their shape, hash and size. Pure.
const MAX_SHAPE_CHARS = 500
const MAX_DEPTH = 4
const MAX_KEYS = 30
/** Most values counted for a size; beyond that, the size is a lower bound. */
const MAX_VALUES = 100_000

/**
 * Returns a shape such as `{owner: string, labels: [string × 3], …: number}`: keys and types, no values. A key that the
 * definition of what is called does not have may be anything, also a secret.
 */
export function shapeOf(value: unknown, isNamed: (key: string) => boolean): string {
  const shape = shapeAt(value, isNamed, 0)
  return shape.length <= MAX_SHAPE_CHARS ? shape : `${shape.slice(0, MAX_SHAPE_CHARS)}…`
}

function shapeAt(value: unknown, isNamed: (key: string) => boolean, depth: number): string {
  if (value === null) return 'null'
  if (typeof value !== 'object') return typeof value
  if (depth === MAX_DEPTH) return '…'
  if (Array.isArray(value)) {
    return value.length === 0 ? '[]' : `[${shapeAt(value[0], isNamed, depth + 1)} × ${value.length}]`
  }
  const keys = Object.keys(value)
  const shown = keys.slice(0, MAX_KEYS).map((key) => {
    const inner = shapeAt((value as Record<string, unknown>)[key], isNamed, depth + 1)
    return `${isNamed(key) ? key.slice(0, 60) : '…'}: ${inner}`
  })
  return `{${[...shown, ...(keys.length > MAX_KEYS ? ['…'] : [])].join(', ')}}`
}

/** The approximate size of the value as JSON, in bytes. */
export function sizeOf(value: unknown): number {
  const open: unknown[] = [value]
  let bytes = 0
  for (let count = 0; open.length > 0 && count < MAX_VALUES; count += 1) {
    const one = open.pop()
    if (typeof one === 'string') bytes += Buffer.byteLength(one) + 2
    else if (typeof one !== 'object' || one === null) bytes += String(one).length
    else if (Array.isArray(one)) {
      bytes += one.length + 1
      for (const item of one) open.push(item)
    } else {
      bytes += 2
      for (const key of Object.keys(one)) {
        bytes += key.length + 4
        open.push((one as Record<string, unknown>)[key])
      }
    }
  }
  return bytes
}
