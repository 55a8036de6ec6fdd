// A stream of JSON objects, one on each line, as a watch sends them.
import type { Readable } from 'node:stream'
import { messageOf } from '../../errors.ts'
import { parseJson } from '../../text/json.ts'
import { ApiUnreachable } from './api-errors.ts'

const MAX_LINE_BYTES = 4 << 20

/** Calls `onValue` for every line until the stream ends. @throws ApiUnreachable when it breaks, or a line never ends */
export async function eachJsonLine(stream: Readable, onValue: (value: unknown) => void): Promise<void> {
  let parts: Buffer[] = []
  let bytes = 0
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      let rest = chunk
      for (let end = rest.indexOf(10); end !== -1; end = rest.indexOf(10)) {
        const line = Buffer.concat([...parts, rest.subarray(0, end)]).toString('utf8')
        parts = []
        bytes = 0
        rest = rest.subarray(end + 1)
        const value = parseJson(line)
        if (value !== undefined) onValue(value)
      }
      parts.push(rest)
      bytes += rest.byteLength
      if (bytes > MAX_LINE_BYTES) throw new ApiUnreachable('an event of its watch is too long')
    }
  } catch (error) {
    throw error instanceof ApiUnreachable ? error : new ApiUnreachable(messageOf(error), { cause: error })
  } finally {
    stream.destroy()
  }
}
