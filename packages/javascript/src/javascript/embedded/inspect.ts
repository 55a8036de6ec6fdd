// Formats values like Node's util.inspect. The build substitutes this for node:util.
interface Options {
  depth?: number | null
  maxArrayLength?: number | null
  maxStringLength?: number | null
  breakLength?: number
}

interface State {
  depth: number
  maxArray: number
  maxString: number
  width: number
  path: unknown[]
}

const CUSTOM = Symbol.for('nodejs.util.inspect.custom')
const MAX_KEYS = 5000
const SHORT = 76
const PLAIN_KEY = /^[A-Za-z_$][\w$]*$/

export function inspect(value: unknown, options: Options = {}): string {
  const { depth = 2, maxArrayLength = 100, maxStringLength = 10_000, breakLength = 80 } = options
  return shown(value, {
    depth: depth ?? Infinity,
    maxArray: maxArrayLength ?? Infinity,
    maxString: maxStringLength ?? Infinity,
    width: Math.min(breakLength, SHORT + 4),
    path: [],
  })
}
inspect.custom = CUSTOM as symbol

export const types = { isNativeError: (value: unknown): value is Error => value instanceof Error }
export default { inspect, types }

function shown(value: unknown, state: State): string {
  if (typeof value === 'string') return quoted(value, state)
  if (typeof value === 'bigint') return `${value}n`
  if (Object.is(value, -0)) return '-0'
  if (value === null) return 'null'
  if (typeof value === 'symbol') return value.toString()
  if (typeof value !== 'object' && typeof value !== 'function') return `${value as number}`
  const custom = (value as Record<symbol, unknown>)[CUSTOM]
  if (typeof custom === 'function') {
    const told: unknown = custom.call(value)
    return typeof told === 'string' ? told : shown(told, state)
  }
  if (state.path.includes(value)) return '[Circular *1]'
  if (state.path.length > state.depth) return Array.isArray(value) ? '[Array]' : `[${nameOf(value) || 'Object'}]`
  state.path.push(value)
  try {
    return structure(value, state)
  } finally {
    state.path.pop()
  }
}

function structure(value: object, state: State): string {
  if (value instanceof Error) return errorText(value, state)
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'Invalid Date' : value.toISOString()
  if (value instanceof RegExp) return String(value)
  if (value instanceof Promise) return 'Promise {}'
  const keys = fields(value, state, Array.isArray(value) || ArrayBuffer.isView(value))
  if (typeof value === 'function') {
    const kind = /^class\b/.test(Function.prototype.toString.call(value)) ? 'class' : nameOf(value) || 'Function'
    const head =
      kind === 'class'
        ? `[class ${value.name || '(anonymous)'}]`
        : `[${kind}${value.name ? `: ${value.name}` : ' (anonymous)'}]`
    return keys.length === 0 ? head : `${head} ${joined(keys, '{', '}', state)}`
  }
  const name = nameOf(value)
  const tag = name === 'Object' || name === 'Array' ? '' : name === '' ? '[Object: null prototype] ' : `${name} `
  if (Array.isArray(value) || ArrayBuffer.isView(value)) {
    const list = value as unknown as ArrayLike<unknown>
    if (ArrayBuffer.isView(value) && name === 'Buffer') return bytes(value as unknown as Uint8Array)
    const size = Array.isArray(value) && name === 'Array' ? '' : `${name}(${list.length}) `
    return joined([...items(list, state), ...keys], `${size}[`, ']', state)
  }
  if (value instanceof Map) {
    const pairs = [...value]
      .slice(0, state.maxArray)
      .map(([key, one]) => `${shown(key, state)} => ${shown(one, state)}`)
    return joined([...pairs, ...rest(value.size, state), ...keys], `${name}(${value.size}) {`, '}', state)
  }
  if (value instanceof Set) {
    const all = [...value].slice(0, state.maxArray).map((one) => shown(one, state))
    return joined([...all, ...rest(value.size, state), ...keys], `${name}(${value.size}) {`, '}', state)
  }
  if (/^(String|Number|Boolean)$/.test(name) && typeof value.valueOf() !== 'object')
    return `[${name}: ${shown(value.valueOf(), state)}]`
  return joined(keys, `${tag}{`, '}', state)
}

function fields(value: object, state: State, isList: boolean): string[] {
  const names = Reflect.ownKeys(value).filter((key) => Object.prototype.propertyIsEnumerable.call(value, key))
  const own = isList ? names.filter((key) => typeof key === 'symbol' || !/^\d+$/.test(key)) : names
  const texts = own.slice(0, MAX_KEYS).map((key) => {
    const label = typeof key === 'symbol' ? `[${String(key)}]` : PLAIN_KEY.test(key) ? key : quoted(key, state)
    const field = Object.getOwnPropertyDescriptor(value, key) ?? {}
    if (field.get || field.set)
      return `${label}: [${[field.get && 'Getter', field.set && 'Setter'].filter(Boolean).join('/')}]`
    return `${label}: ${shown(field.value, state)}`
  })
  return own.length > MAX_KEYS ? [...texts, `... ${own.length - MAX_KEYS} more`] : texts
}

function items(list: ArrayLike<unknown>, state: State): string[] {
  const texts: string[] = []
  const end = Math.min(list.length, state.maxArray)
  for (let at = 0; at < end; at += 1) {
    if (at in list) texts.push(shown(list[at], state))
    else {
      let empty = 1
      while (at + 1 < end && !(at + 1 in list)) {
        empty += 1
        at += 1
      }
      texts.push(`<${empty} empty item${empty === 1 ? '' : 's'}>`)
    }
  }
  return [...texts, ...rest(list.length, state)]
}

function rest(size: number, { maxArray }: State): string[] {
  return size > maxArray ? [`... ${size - maxArray} more item${size - maxArray === 1 ? '' : 's'}`] : []
}

function bytes(value: Uint8Array): string {
  const hex = Array.from(value.subarray(0, 50), (byte) => byte.toString(16).padStart(2, '0')).join(' ')
  return `<Buffer${hex ? ` ${hex}` : ''}${value.length > 50 ? ` ... ${value.length - 50} more bytes` : ''}>`
}

function errorText(error: Error, state: State): string {
  const head = `${error.name}: ${error.message}`
  const { stack }: { stack?: unknown } = error
  const text = typeof stack === 'string' && stack !== '' ? (stack.startsWith(head) ? stack : `${head}\n${stack}`) : head
  const own = fields(error, state, false).filter((one) => !/^(stack|message|name|cause|errors): /.test(one))
  const cause = 'cause' in error ? [`[cause]: ${shown(error.cause, state)}`] : []
  const all = [...own, ...cause]
  const trimmed = text.trimEnd()
  return all.length === 0
    ? trimmed.includes('\n')
      ? trimmed
      : `[${trimmed}]`
    : `${trimmed} ${joined(all, '{', '}', { ...state, width: 0 })}`
}

function joined(parts: string[], open: string, close: string, { path, width }: State): string {
  if (parts.length === 0) return `${open}${close}`
  const indent = '  '.repeat(path.length)
  const length = parts.reduce((sum, one) => sum + one.length + 2, open.length)
  if (length + indent.length <= width && !parts.some((one) => one.includes('\n')))
    return `${open} ${parts.join(', ')} ${close}`
  const lines = parts.map((one) => `\n${indent}${one}`).join(',')
  return `${open}${lines}\n${indent.slice(2)}${close}`
}

function quoted(text: string, { maxString }: State): string {
  const kept = text.slice(0, maxString)
  const mark = !kept.includes("'") ? "'" : !kept.includes('"') ? '"' : kept.includes('`') ? "'" : '`'
  // eslint-disable-next-line no-control-regex
  const escaped = kept.replace(/[\\\u0000-\u001F\u007F]/g, (one) => {
    const known: Record<string, string> = {
      '\\': '\\\\',
      '\n': '\\n',
      '\r': '\\r',
      '\t': '\\t',
      '\b': '\\b',
      '\f': '\\f',
    }
    return known[one] ?? `\\x${one.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`
  })
  const safe = mark === "'" ? escaped.replaceAll("'", "\\'") : escaped
  const more = text.length - kept.length
  return `${mark}${safe}${mark}${more > 0 ? `... ${more} more character${more === 1 ? '' : 's'}` : ''}`
}

function nameOf(value: object): string {
  try {
    const { constructor } = value as { constructor?: unknown }
    return typeof constructor === 'function' && typeof constructor.name === 'string' ? constructor.name : ''
  } catch {
    return ''
  }
}
