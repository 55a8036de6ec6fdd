// What a MIME bundle from a cell is shown as: a text, and images or sounds that every client can take. Pure.
import type { MimeBundle } from '../protocol/frames.ts'
import { plainText } from '../text/terminal-text.ts'

export interface MediaBlock {
  type: 'image' | 'audio'
  /** Base64. */
  data: string
  mimeType: string
}

/** The most that one of them may have, in characters of base64; clients refuse more. */
const MAX_MEDIA_CHARS = 5_000_000
/** The most that all of a result may have. */
const MAX_ALL_MEDIA_CHARS = 20_000_000
const MAX_MEDIA = 20

/** What models can see, best first. */
const IMAGE_TYPES = ['image/png', 'image/jpeg', 'image/webp', 'image/gif']
/** Shown when the plain text says nothing. */
const SPEAKING_TYPES = ['text/html', 'text/latex', 'application/json', 'image/svg+xml']
/** The repr of an object that has none of its own. */
const MUTE = /^<[^<>]* at 0x[0-9a-f]+>$/i

/** The text to show for a bundle, by Jupyter's order with plain text before HTML, since a model reads it. */
export function textOf(bundle: MimeBundle | undefined): string | undefined {
  if (!bundle) return undefined
  const { 'text/markdown': markdown, 'text/plain': plain } = bundle
  if (typeof markdown === 'string') return plainText(markdown)
  if (typeof plain === 'string' && !MUTE.test(plain)) return plainText(plain)
  const speaking = SPEAKING_TYPES.map((type) => bundle[type]).find((content) => content !== undefined)
  if (speaking === undefined) return typeof plain === 'string' ? plainText(plain) : undefined
  return plainText(typeof speaking === 'string' ? speaking : JSON.stringify(speaking))
}

/** The images and sounds of bundles, each once, and a sentence for each that cannot be shown. */
export function mediaOf(bundles: MimeBundle[]): { blocks: MediaBlock[]; notes: string[] } {
  const blocks: MediaBlock[] = []
  const notes: string[] = []
  const seen = new Set<string>()
  let chars = 0
  for (const { data, mimeType } of bundles.flatMap(mediaIn)) {
    if (seen.has(data)) continue
    seen.add(data)
    const problem = problemOf(data, chars, blocks.length)
    if (problem) {
      notes.push(`An image or audio item (${mimeType}) is not shown: ${problem}.`)
      continue
    }
    chars += data.length
    blocks.push({ type: mimeType.startsWith('audio/') ? 'audio' : 'image', data, mimeType })
  }
  return { blocks, notes: [...new Set(notes)] }
}

function mediaIn(bundle: MimeBundle): { data: string; mimeType: string }[] {
  const types = [...IMAGE_TYPES, ...Object.keys(bundle).filter((type) => /^audio\/[\w.+-]{1,50}$/.test(type))]
  const mimeType = types.find((type) => typeof bundle[type] === 'string')
  // Base64 with line breaks is usual in Python, and no base64 for MCP.
  return mimeType === undefined ? [] : [{ data: (bundle[mimeType] as string).replace(/\s/g, ''), mimeType }]
}

function problemOf(data: string, chars: number, count: number): string | undefined {
  const size = `${(data.length / 1e6).toFixed(1)} MB as base64`
  if (data.length > MAX_MEDIA_CHARS)
    return `it has ${size}, and the limit is ${MAX_MEDIA_CHARS / 1e6} MB; make it smaller`
  if (count >= MAX_MEDIA) return `a result shows at most ${MAX_MEDIA} of them`
  if (chars + data.length > MAX_ALL_MEDIA_CHARS) return `a result shows at most ${MAX_ALL_MEDIA_CHARS / 1e6} MB of them`
  // A client that checks what it is sent would refuse the whole result.
  if (data.length % 4 !== 0 || !/^[A-Za-z0-9+/]+={0,2}$/.test(data)) return 'its data is not base64'
  return undefined
}
