// Selects from a cell's MIME bundle a text, and images or sounds that every client supports. Pure.
import type { MimeBundle } from '../protocol/frames.ts'
import { plainText } from '../../util/text/terminal-text.ts'

export interface MediaBlock {
  type: 'image' | 'audio'
  /** Base64. */
  data: string
  mimeType: string
}

/** Limit of one image or sound, in characters of base64; clients refuse more. */
const MAX_MEDIA_CHARS = 5_000_000
/** Limit of all images and sounds of a result. */
const MAX_ALL_MEDIA_CHARS = 20_000_000
const MAX_MEDIA = 20

/** Image types that models support, best first, and how their base64 begins. */
const PICTURE_TYPES = new Map([
  ['image/png', /^iVBORw/],
  ['image/jpeg', /^\/9j\//],
  ['image/webp', /^UklGR.{7}RUJQ/],
  ['image/gif', /^R0lGOD/],
])
const MEDIA = /^(?:audio|image)\/[\w.+-]{1,50}$/
/** Shown when the plain text is useless. */
const SPEAKING_TYPES = ['text/html', 'text/latex', 'application/json', 'image/svg+xml']
/** The default repr of an object, and that of IPython's. */
const MUTE = /^<[^<>]* (?:at 0x[0-9a-f]+|object)>$/i

/** The text of a bundle, in Jupyter's order, but with plain text before HTML, because a model reads it. */
export function textOf(bundle: MimeBundle | undefined): string | undefined {
  if (!bundle) return undefined
  const { 'text/markdown': markdown, 'text/plain': plain } = bundle
  if (typeof markdown === 'string') return plainText(markdown)
  if (typeof plain === 'string' && !MUTE.test(plain)) return plainText(plain)
  const speaking = SPEAKING_TYPES.map((type) => bundle[type]).find((content) => content !== undefined)
  // It adds nothing to a picture.
  if (speaking === undefined && mediaIn(bundle).length > 0) return undefined
  if (speaking === undefined) return typeof plain === 'string' ? plainText(plain) : undefined
  return plainText(typeof speaking === 'string' ? speaking : JSON.stringify(speaking))
}

/** Images and sounds of displays and of an undisplayed value, and sentences about those that cannot be shown. */
export function mediaOf(displays: MimeBundle[], value?: MimeBundle) {
  const blocks: MediaBlock[] = []
  const of: number[] = []
  const notes = new Map<string, number>()
  const seen = new Set<string>()
  let chars = 0
  for (const [index, { data, mimeType: named }] of [...displays, ...(value ? [value] : [])].flatMap(numberedMedia)) {
    if (index === displays.length && seen.has(data)) continue
    seen.add(data)
    // A model's provider refuses a request with a picture of another type than it says, and so all that follow.
    const mimeType = named.startsWith('audio/') ? named : typeOfPicture(data)
    const problem = problemOf(data, chars, blocks.length) ?? (mimeType ? undefined : NO_PICTURE)
    if (problem || !mimeType) {
      const why = `(${named}) is not shown: ${problem}`
      notes.set(why, (notes.get(why) ?? 0) + 1)
      continue
    }
    chars += data.length
    blocks.push({ type: mimeType.startsWith('audio/') ? 'audio' : 'image', data, mimeType })
    of.push(index)
  }
  return { blocks, of, notes: [...notes].map(noteAbout) }
}

const numberedMedia = (bundle: MimeBundle, index: number) => mediaIn(bundle).map((media) => [index, media] as const)

function noteAbout([why, times]: [string, number]): string {
  return `An image or audio item ${why}${times > 1 ? `; ${times - 1} more like it` : ''}.`
}

const NO_PICTURE = 'it is no PNG, JPEG, WebP or GIF'

function typeOfPicture(data: string): string | undefined {
  return [...PICTURE_TYPES].find(([, start]) => start.test(data))?.[0]
}

function mediaIn(bundle: MimeBundle): { data: string; mimeType: string }[] {
  const media = new Map<string, string>()
  for (const [type, content] of Object.entries(bundle)) {
    const mimeType = type.toLowerCase().replace(/\s*;.*$/s, '')
    // SVG as text stands beside others, and is read.
    if (typeof content === 'string' && MEDIA.test(mimeType) && !content.includes('<')) media.set(mimeType, content)
  }
  const mimeType = [...PICTURE_TYPES.keys(), ...media.keys()].find((type) => media.has(type))
  // Python often breaks base64 into lines, which MCP does not allow; some servers write that of URLs.
  if (mimeType === undefined) return []
  const data = media.get(mimeType)!.replace(/\s/g, '').replaceAll('-', '+').replaceAll('_', '/')
  return [{ data: data.padEnd(Math.ceil(data.length / 4) * 4, '='), mimeType }]
}

function problemOf(data: string, chars: number, count: number): string | undefined {
  const size = `${(data.length / 1e6).toFixed(1)} MB as base64`
  if (data.length > MAX_MEDIA_CHARS)
    return `it has ${size}, and the limit is ${MAX_MEDIA_CHARS / 1e6} MB; make it smaller`
  if (count >= MAX_MEDIA) return `a result shows at most ${MAX_MEDIA} of them`
  if (chars + data.length > MAX_ALL_MEDIA_CHARS) return `a result shows at most ${MAX_ALL_MEDIA_CHARS / 1e6} MB of them`
  // A client that validates results would refuse all of it.
  if (data.length % 4 !== 0 || !/^[A-Za-z0-9+/]+={0,2}$/.test(data)) return 'its data is not base64'
  return undefined
}
