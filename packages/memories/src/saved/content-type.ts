// Determines a file's content type from its name, unless its bytes contradict it. Pure.
import { isUtf8 } from 'node:buffer'
import { parseJson } from '@sandbridge/core/util/json/json.ts'

const OFFICE = 'application/vnd.openxmlformats-officedocument.'
/** By extension. */
const TYPES = new Map(
  (
    'csv text/csv, gif image/gif, gz application/gzip, htm text/html, html text/html, ipynb application/x-ipynb+json, ' +
    'jpeg image/jpeg, jpg image/jpeg, js text/javascript, json application/json, jsonl application/jsonl, log ' +
    'text/plain, md text/markdown, mp3 audio/mpeg, mp4 video/mp4, parquet application/vnd.apache.parquet, pdf ' +
    'application/pdf, png image/png, py text/x-python, sqlite application/vnd.sqlite3, svg image/svg+xml, toml ' +
    'application/toml, tsv text/tab-separated-values, txt text/plain, wav audio/wav, webp image/webp, xml ' +
    'application/xml, yaml application/yaml, yml application/yaml, zip application/zip'
  )
    .split(', ')
    .map((one) => one.split(' ') as [extension: string, type: string]),
)
  .set('docx', `${OFFICE}wordprocessingml.document`)
  .set('pptx', `${OFFICE}presentationml.presentation`)
  .set('xlsx', `${OFFICE}spreadsheetml.sheet`)
/** First bytes of each type as Latin-1, with their offsets. */
const SIGNATURES: [type: string, ...parts: [offset: number, text: string][]][] = [
  ['image/png', [0, '\u0089PNG\r\n\u001a\n']],
  ['image/jpeg', [0, '\u00ff\u00d8\u00ff']],
  ['image/gif', [0, 'GIF8']],
  ['image/webp', [0, 'RIFF'], [8, 'WEBP']],
  ['audio/wav', [0, 'RIFF'], [8, 'WAVE']],
  ['application/pdf', [0, '%PDF-']],
  ['application/gzip', [0, '\u001f\u008b']],
  ['application/zip', [0, 'PK\u0003\u0004']],
  ['application/vnd.sqlite3', [0, 'SQLite format 3\0']],
]

const MAX_PARSED_BYTES = 1 << 20

/** Returns a MIME type. Ignores an image or text extension that the bytes contradict. */
export function contentTypeOf(name: string, data: Uint8Array): string {
  const named = TYPES.get(/\.([^.]+)$/.exec(name.toLowerCase())?.[1] ?? '')
  const start = Buffer.from(data.buffer, data.byteOffset, Math.min(data.byteLength, 16)).toString('latin1')
  const seen =
    SIGNATURES.find(([, ...parts]) => parts.every(([offset, text]) => start.startsWith(text, offset)))?.[0] ??
    textType(data)
  if (named === undefined || named === seen) return named ?? seen
  if (isTextType(named)) return isTextType(seen) ? named : seen
  if (SIGNATURES.some(([type]) => type === named)) return seen
  return isTextType(seen) ? seen : named
}

export function isTextType(type: string): boolean {
  return type.startsWith('text/') || /^(application\/(json|jsonl|xml|yaml|toml)|image\/svg\+xml)$|\+json$/.test(type)
}

function textType(data: Uint8Array): string {
  if (!isUtf8(data) || data.includes(0)) return 'application/octet-stream'
  return isJson(data) ? 'application/json' : 'text/plain'
}

function isJson(data: Uint8Array): boolean {
  if (data.byteLength > MAX_PARSED_BYTES || (data[0] !== 0x7b && data[0] !== 0x5b)) return false
  return parseJson(Buffer.from(data).toString()) !== undefined
}
