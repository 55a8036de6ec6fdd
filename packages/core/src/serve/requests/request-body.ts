// Reads the body of a request and buffers at most the allowed size.
import type { IncomingMessage } from 'node:http'
import { lineCost } from '../../util/json/line-cost.ts'

export class BodyError extends Error {
  readonly status: 400 | 413
  readonly code: number

  constructor(status: 400 | 413, message: string, code: number) {
    super(message)
    this.status = status
    this.code = code
  }
}

/** A cell of code is one string. What has a hundred thousand parts keeps other clients waiting for seconds. */
const MAX_STRUCTURE = 100_000

/**
 * @throws BodyError 413 for more than `maxBytes`, or more lists, objects and members than a request has; 400 for
 * invalid JSON or a body that the sender aborted
 */
export async function readJsonBody(request: IncomingMessage, maxBytes: number): Promise<unknown> {
  const bytes = await readBytes(request, maxBytes)
  const { structure, tooCostly } = lineCost(bytes)
  if (tooCostly !== undefined) throw new BodyError(413, `The request body has ${tooCostly}`, -32_000)
  if (structure > MAX_STRUCTURE) {
    const what = `more than ${MAX_STRUCTURE} of the characters [ ] { } : , outside of strings`
    throw new BodyError(413, `The request body has ${what}`, -32_000)
  }
  try {
    return JSON.parse(bytes.toString())
  } catch {
    throw new BodyError(400, 'Parse error: the body is not JSON', -32_700)
  }
}

/** @throws BodyError 413 for more than `maxBytes`, 400 for a body that the sender aborted */
export async function readBody(request: IncomingMessage, maxBytes: number): Promise<string> {
  return (await readBytes(request, maxBytes)).toString()
}

function readBytes(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const tooLarge = new BodyError(413, `The request body exceeds ${maxBytes} bytes`, -32_000)
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) return Promise.reject(tooLarge)
  return new Promise((resolve, reject) => {
    let chunks: Buffer[] = []
    let length = 0
    request.on('data', (chunk: Buffer) => {
      length += chunk.length
      if (length <= maxBytes) chunks.push(chunk)
      else {
        chunks = []
        reject(tooLarge)
      }
    })
    request.once('end', () => resolve(Buffer.concat(chunks)))
    // After 'end', these events have no effect.
    const brokenOff = () => reject(new BodyError(400, 'The request was aborted', -32_700))
    request.on('close', brokenOff)
    request.on('error', brokenOff)
  })
}
