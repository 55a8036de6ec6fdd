// Reads the body of a request and buffers at most the allowed size.
import { isUtf8 } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'
import { leadingValues } from '@sandbridge/core/upstream/reading'
import { asUtf8 } from '@sandbridge/core/util/bytes'
import { readAtMost } from '@sandbridge/shared/unpack/decoded.ts'
import { lineCost, MAX_MESSAGE_STRUCTURE, parseExact, tryParseExact } from '@sandbridge/core/util/json'
import { refusalOfText } from '@sandbridge/core/serve'

export class BodyError extends Error {
  readonly status: 400 | 413 | 415
  readonly code: number
  readonly id: string | number | null

  constructor(status: BodyError['status'], message: string, code: number, id: BodyError['id'] = null) {
    super(message)
    this.status = status
    this.code = code
    this.id = id
  }
}

/** Of bodies that are read compressed. */
const DECODERS = {
  gzip: () => createGunzip(),
  'x-gzip': () => createGunzip(),
  deflate: () => createInflate(),
  br: () => createBrotliDecompress(),
}
export const ENCODINGS = Object.keys(DECODERS).join(', ')

/**
 * @throws BodyError 413 for more than `maxBytes`, or more lists, objects and members than a request has; 400 for
 * invalid JSON or a body that the sender aborted
 */
export async function readJsonBody(request: IncomingMessage, maxBytes: number): Promise<unknown> {
  const bytes = await readBytes(request, maxBytes)
  const { tooCostly } = lineCost(bytes, MAX_MESSAGE_STRUCTURE)
  if (tooCostly !== undefined) throw new BodyError(413, `The request body has ${tooCostly}`, -32_000)
  const utf8 = asUtf8(bytes)
  const text = utf8.toString()
  const isText = isUtf8(utf8)
  const value = isText ? tryParseExact(text) : undefined
  if (value !== undefined) return value
  const { texts, rest } = leadingValues(isText ? text : '')
  // Control characters in strings, which JSON writes as escapes.
  if (texts.length === 1 && rest === '') return parseExact(texts[0]!)
  const { error, id } = refusalOfText(text, isText ? undefined : 'not UTF-8')
  throw new BodyError(400, error.message, error.code, id)
}

/** @throws BodyError 413 for more than `maxBytes`, 400 for a body that the sender aborted */
export async function readBody(request: IncomingMessage, maxBytes: number): Promise<string> {
  return (await readBytes(request, maxBytes)).toString()
}

async function readBytes(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) throw tooLarge(maxBytes)
  const encoding = request.headers['content-encoding']?.trim().toLowerCase() ?? 'identity'
  if (encoding === 'identity' || encoding === '') return collect(request, maxBytes)
  const decoder = Object.hasOwn(DECODERS, encoding) ? DECODERS[encoding as keyof typeof DECODERS]() : undefined
  if (!decoder) {
    const problem = `The Content-Encoding ${encoding.slice(0, 100)} is not known`
    throw new BodyError(415, `${problem}: send ${ENCODINGS}, or none`, -32_000)
  }
  request.once('close', () => request.complete || decoder.destroy())
  try {
    return await collect(request.pipe(decoder), maxBytes, `The body is not ${encoding}, as its header says`)
  } finally {
    request.unpipe(decoder)
    decoder.destroy()
  }
}

function tooLarge(maxBytes: number): BodyError {
  return new BodyError(413, `The request body exceeds ${maxBytes} bytes`, -32_000)
}

async function collect(body: Readable, maxBytes: number, problem = 'The request was aborted'): Promise<Buffer> {
  try {
    return await readAtMost(body.iterator({ destroyOnReturn: false }), maxBytes, () => tooLarge(maxBytes))
  } catch (error) {
    // The rest of a body that is too large is read past, so that the response arrives.
    body.resume()
    throw error instanceof BodyError ? error : new BodyError(400, problem, -32_700)
  }
}
