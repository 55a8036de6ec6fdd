// In which form a client reads responses: as a stream of events, or as one JSON text (RFC 9110, Accept). The MCP
// package takes only the one header that names both, so each request gets it, and the response the form that is read.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { unmarked, unmarkedBytes } from '@sandbridge/core/util/json'
import { fieldsOf, isRecord, parseJson } from '@sandbridge/core/util/json/json.ts'

const JSON_TYPE = 'application/json'
const EVENTS = 'text/event-stream'
const JSON_AND_EVENTS = `${JSON_TYPE}, ${EVENTS}`

/** The form that a client prefers, events where it reads both alike; undefined when it reads neither. */
export function acceptedForm(accept: string | undefined): 'events' | 'json' | undefined {
  const ranges = (accept?.trim() || '*/*').split(',').map((range) => {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase().replace(/^\*$/, '*/*'))
    const q = parameters.find((one) => one.startsWith('q='))?.slice(2)
    return { type, quality: q === undefined ? 1 : Number(q) || 0 }
  })
  const qualityOf = (type: string): number => {
    const names = [type, type.replace(/\/.*/, '/*'), '*/*']
    for (const name of names) {
      const found = ranges.find((range) => range.type === name)
      if (found) return found.quality
    }
    return 0
  }
  const [json, events] = [qualityOf(JSON_TYPE), qualityOf(EVENTS)]
  if (json === 0 && events === 0) return undefined
  return json > events ? 'json' : 'events'
}

/** Other names of JSON. Web pages cannot send them without asking first, as they can `text/plain`. */
const OTHER_JSON = /^application\/(?:[\w.-]+\+json|json-?rpc|jsonrequest)\s*(?:;|$)/i

/** Gives a request the headers that the MCP package takes. @param isAccepting it reads responses in both forms */
export function asPackageTakes(request: IncomingMessage, isAccepting: boolean, message: unknown): void {
  // A handshake agrees on the version. The package refuses one whose header has another.
  if (fieldsOf(message)['method'] === 'initialize') setHeader(request, 'mcp-protocol-version')
  if (isAccepting) setHeader(request, 'accept', JSON_AND_EVENTS)
  const { rawHeaders, headers } = request
  const count = rawHeaders.filter((name, at) => at % 2 === 0 && /^content-type$/i.test(name)).length
  // Node keeps the first of several, and the package reads all of them as one.
  if (count > 1) setHeader(request, 'content-type', headers['content-type'])
  if (OTHER_JSON.test(headers['content-type'] ?? '')) setHeader(request, 'content-type', JSON_TYPE)
}

function setHeader(request: IncomingMessage, name: string, value?: string): void {
  request.headers[name] = value
  const { rawHeaders } = request
  const kept = rawHeaders.filter((_, at) => rawHeaders[at - (at % 2)]!.toLowerCase() !== name)
  request.rawHeaders = value === undefined ? kept : [...kept, name, value]
}

/** Writes the responses of a stream of events as JSON when the stream ends; all other content as it is. */
export function answerAsJson(response: ServerResponse): void {
  const writeHead: (...given: never[]) => ServerResponse = response.writeHead.bind(response)
  const write: (...given: never[]) => boolean = response.write.bind(response)
  const end: (...given: never[]) => ServerResponse = response.end.bind(response)
  const flushHeaders = response.flushHeaders.bind(response)
  let held: { status: number; headers: Record<string, string>; chunks: Buffer[] } | undefined
  response.writeHead = (status: number, ...rest: unknown[]) => {
    const headers = rest.find((one) => isRecord(one)) as Record<string, string> | undefined
    const type = Object.entries(headers ?? {}).find(([name]) => name.toLowerCase() === 'content-type')
    if (!type?.[1].startsWith(EVENTS)) return writeHead(...([status, ...rest] as never[]))
    const { [type[0]]: _, ...others } = headers!
    held = { status, headers: others, chunks: [] }
    return response
  }
  response.flushHeaders = () => held ?? flushHeaders()
  response.write = (chunk: unknown, ...rest: unknown[]) => {
    if (!held) return write(...([chunk, ...rest] as never[]))
    held.chunks.push(Buffer.from(chunk as Uint8Array))
    return true
  }
  response.end = (...given: unknown[]) => {
    if (!held) return end(...(given as never[]))
    const { status, headers, chunks } = held
    held = undefined
    const body = responsesIn(Buffer.concat(chunks).toString())
    response.writeHead(status, { ...headers, 'content-type': JSON_TYPE, 'content-length': Buffer.byteLength(body) })
    return end(...([body] as never[]))
  }
}

/** Events with integers beyond 2^53 as they were written. Each chunk is whole events. */
export function writeBigNumbers(response: ServerResponse): void {
  const writeHead: (...given: never[]) => ServerResponse = response.writeHead.bind(response)
  const write: (...given: never[]) => boolean = response.write.bind(response)
  response.writeHead = (status: number, ...rest: unknown[]) => {
    const headers = Object.entries(rest.find((one) => isRecord(one)) ?? {})
    // The length changes.
    const kept = headers.filter(([name]) => name.toLowerCase() !== 'content-length')
    return writeHead(...([status, Object.fromEntries(kept)] as never[]))
  }
  response.write = (chunk: unknown, ...rest: unknown[]) =>
    write(...([unmarkedBytes(Buffer.from(chunk as Uint8Array)), ...rest] as never[]))
}

/** The JSON of the responses in our own events; the client could not answer a question, and reads no progress. */
function responsesIn(events: string): string {
  const data = events.split('\n').filter((line) => line.startsWith('data: '))
  const responses = data.map((line) => line.slice('data: '.length)).filter((text) => !hasMethod(parseJson(text)))
  return unmarked(responses.length === 1 ? responses[0]! : `[${responses.join(',')}]`)
}

function hasMethod(message: unknown): boolean {
  return !isRecord(message) || 'method' in message
}
