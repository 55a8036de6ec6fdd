// Images, audio and bytes in results of calls.
import util from 'node:util'

/**
 * An image or audio clip with its bytes in `data`. Displayed as such when it is a cell's last value or passed to
 * `display`.
 */
export class Media {
  readonly mimeType: string
  readonly data: Buffer

  constructor(data: Buffer, mimeType: string) {
    this.data = data
    this.mimeType = mimeType
  }

  toJSON(): unknown {
    return { mimeType: this.mimeType, data: this.data.toString('base64') }
  }

  [util.inspect.custom](): string {
    return `<${this.mimeType}, ${this.data.length} bytes>`
  }
}

/** Replaces placeholders in a value with their media. */
export function withMedia(value: unknown, mark: string, media: readonly { data: string; mime?: string }[]): unknown {
  if (typeof value === 'string' && value.startsWith(mark)) {
    const named = Number(value.slice(mark.length))
    // A number that JSON has no form for.
    if (!Number.isFinite(named)) return named
    const { data = '', mime } = media[named] ?? {}
    const bytes = Buffer.from(data, 'base64')
    return mime === undefined ? bytes : new Media(bytes, mime)
  }
  if (Array.isArray(value)) return value.map((one) => withMedia(one, mark, media))
  if (typeof value !== 'object' || value === null) return value
  for (const [key, one] of Object.entries(value)) (value as Record<string, unknown>)[key] = withMedia(one, mark, media)
  return value
}

/** Returns up to `most` media within a value, at any nesting up to `depth`. */
export function mediaIn(value: unknown, most: number, depth = 4): Media[] {
  if (value instanceof Media) return [value]
  if (typeof value !== 'object' || value === null || depth === 0 || ArrayBuffer.isView(value)) return []
  const found: Media[] = []
  // Not listed: what a tool returned beside the value.
  const { enumerable, value: beside } = Object.getOwnPropertyDescriptor(value, 'media') ?? {}
  for (const one of [...(enumerable === false ? [beside] : []), ...Object.values(value).slice(0, 2_000)]) {
    if (found.length >= most) break
    found.push(...mediaIn(one, most - found.length, depth - 1))
  }
  return found
}
