// A model on loopback with scripted turns: each turn calls run_python with the next piece of code, and the last one
// ends the conversation. It supports the three wire formats that agents use, and keeps the requests, which are what a
// model would have read.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'

export interface StubModel {
  /** `http://127.0.0.1:port`, without a path. */
  url: string
  /** The bodies of the requests that offered run_python, in order. */
  requests: unknown[]
  close(): void
}

type Wire = 'chat' | 'responses' | 'gemini'

/** One turn: a call of the tool, or the end. */
type Turn = { tool: Tool; code: string; number: number } | undefined

/** The tool as the agent declares it. */
interface Tool {
  name: string
  namespace?: string
}

/** @param cells what the model runs, one cell per turn */
export async function startStubModel(cells: readonly string[]): Promise<StubModel> {
  const requests: unknown[] = []
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const wire = wireOf(request.url ?? '')
    if (!wire || request.method !== 'POST') return void response.writeHead(404).end()
    const body = await json(request)
    // Agents also request titles, without tools.
    const tool = toolIn((body as { tools?: unknown[] }).tools ?? [])
    if (tool) requests.push(body)
    const number = requests.length
    const code = tool === undefined ? undefined : cells[number - 1]
    const turn = code === undefined ? undefined : { tool: tool!, code, number }
    const asked = body as { stream?: boolean }
    if (wire === 'gemini' && !request.url!.includes('stream')) return sendJson(response, geminiTurn(turn))
    if (wire === 'chat' && !asked.stream)
      return sendJson(response, { choices: [{ index: 0, message: chatMessage(turn) }] })
    sendEvents(response, EVENTS[wire](turn))
  }
  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    close: () => {
      server.close()
      server.closeAllConnections()
    },
  }
}

function wireOf(url: string): Wire | undefined {
  if (url.includes('/chat/completions')) return 'chat'
  if (url.includes('/responses')) return 'responses'
  return /:(stream)?generateContent/i.test(url) ? 'gemini' : undefined
}

const EVENTS: Record<Wire, (turn: Turn) => object[]> = {
  chat: (turn) => [
    { choices: [{ index: 0, delta: chatMessage(turn), finish_reason: null }] },
    { choices: [{ index: 0, delta: {}, finish_reason: turn ? 'tool_calls' : 'stop' }], usage: USAGE },
  ],
  gemini: (turn) => [geminiTurn(turn)],
  responses: (turn) => {
    const id = `resp_${turn?.number ?? 'end'}`
    const item = turn
      ? {
          type: 'function_call',
          id: `fc_${turn.number}`,
          call_id: `call_${turn.number}`,
          ...turn.tool,
          arguments: argumentsOf(turn),
        }
      : { type: 'message', id: 'msg_end', role: 'assistant', content: [{ type: 'output_text', text: 'Done.' }] }
    return [
      { type: 'response.created', response: { id } },
      { type: 'response.output_item.done', output_index: 0, item },
      { type: 'response.completed', response: { id, output: [], usage: RESPONSES_USAGE } },
    ]
  },
}

const USAGE = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 }
const RESPONSES_USAGE = { input_tokens: 1, output_tokens: 1, total_tokens: 2 }

function toolIn(tools: unknown[]): Tool | undefined {
  for (const tool of tools as { type?: string; name?: string; tools?: unknown[] }[]) {
    const inner = tool.type === 'namespace' ? toolIn(tool.tools ?? []) : undefined
    if (inner) return { ...inner, namespace: tool.name! }
    const name = /"name":"([\w.-]*run_python)"/.exec(JSON.stringify(tool))?.[1]
    if (name !== undefined) return { name }
  }
  return undefined
}

function argumentsOf({ code }: NonNullable<Turn>): string {
  return JSON.stringify({ code, timeout: 90 })
}

function chatMessage(turn: Turn): object {
  if (!turn) return { role: 'assistant', content: 'Done.' }
  const call = {
    index: 0,
    id: `call_${turn.number}`,
    type: 'function',
    function: { name: turn.tool.name, arguments: argumentsOf(turn) },
  }
  return { role: 'assistant', content: null, tool_calls: [call] }
}

function geminiTurn(turn: Turn): object {
  const part = turn
    ? { functionCall: { name: turn.tool.name, args: JSON.parse(argumentsOf(turn)) as object } }
    : { text: 'Done.' }
  return { candidates: [{ content: { role: 'model', parts: [part] }, finishReason: 'STOP', index: 0 }] }
}

function sendJson(response: ServerResponse, body: object): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

function sendEvents(response: ServerResponse, events: object[]): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  for (const event of events) {
    const name = (event as { type?: string }).type
    response.write(`${name ? `event: ${name}\n` : ''}data: ${JSON.stringify(event)}\n\n`)
  }
  response.end()
}
