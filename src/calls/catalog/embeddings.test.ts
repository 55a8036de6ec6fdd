import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, it } from 'vitest'
import { Embeddings } from './embeddings.ts'

let server: Server | undefined

afterEach(() => {
  server?.closeAllConnections()
  server?.close()
})

interface Request {
  input: string[]
  model?: string
  authorization: string | undefined
}

async function endpoint(answer: (request: Request, response: ServerResponse) => void): Promise<string> {
  server = createServer((request, response) => {
    const parts: Buffer[] = []
    request.on('data', (part: Buffer) => parts.push(part))
    request.on('end', () => {
      const body = JSON.parse(Buffer.concat(parts).toString()) as { input: string[]; model?: string }
      answer({ ...body, authorization: request.headers.authorization }, response)
    })
  })
  await new Promise<void>((resolve) => server!.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/embeddings`
}

/** Texts about animals get one vector, all others another. */
function vectorOf(text: string): number[] {
  return /cat|dog|pet/.test(text) ? [1, 0.1] : [0.1, 1]
}

function sendVectors(request: Request, response: ServerResponse): void {
  const data = request.input.map((text, index) => ({ index, embedding: vectorOf(text) }))
  response.setHeader('content-type', 'application/json').end(JSON.stringify({ data: data.toReversed() }))
}

const ITEMS = ['invoice', 'dog', 'ticket', 'cat']
async function rank(embeddings: Embeddings, query: string): Promise<string[]> {
  const likeness = await embeddings.likeness(query, ITEMS, (item) => item)
  return likeness === undefined ? [] : ITEMS.toSorted((a, b) => likeness.get(b)! - likeness.get(a)!)
}

it('items are ranked by their embeddings, and each embedding is requested once', async () => {
  const requests: Request[] = []
  const url = await endpoint((request, response) => {
    requests.push(request)
    sendVectors(request, response)
  })
  const embeddings = new Embeddings({ url, model: 'small', apiKey: 'key' })
  expect((await rank(embeddings, 'my pet')).slice(0, 2).toSorted()).toEqual(['cat', 'dog'])
  expect((await rank(embeddings, 'money')).slice(0, 2).toSorted()).toEqual(['invoice', 'ticket'])
  expect(requests.filter(({ input }) => input.length > 1)).toHaveLength(1)
  expect(requests.every(({ model, authorization }) => model === 'small' && authorization === 'Bearer key')).toBe(true)
})

it.each<[string, (response: ServerResponse) => void]>([
  ['an error', (response) => response.writeHead(500).end('no')],
  ['no JSON', (response) => response.end('<html>')],
  ['too few vectors', (response) => response.end('{"data": []}')],
  ['no numbers', (response) => response.end('{"data": [{"embedding": ["x"]}]}')],
  ['a closed connection', (response) => response.destroy()],
  ['a redirect', (response) => response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end()],
])(
  'an embeddings endpoint that answers with %s ranks nothing, is reported once without its URL, and is not asked again at once',
  async (_, answer) => {
    let requests = 0
    const url = await endpoint((_request, response) => {
      requests += 1
      answer(response)
    })
    const lines: string[] = []
    const write = (message: string, fields?: object): void => void lines.push(message + JSON.stringify(fields))
    const log = { debug: write, info: write, warning: write, error: write }
    const embeddings = new Embeddings({ url, log })
    expect(await rank(embeddings, 'pet')).toEqual([])
    const after = requests
    expect(await rank(embeddings, 'pet')).toEqual([])
    expect(requests).toBe(after)
    expect(lines).toHaveLength(1)
    expect(lines[0]).not.toContain('127.0.0.1')
  },
)

it('an embeddings endpoint that never answers delays a search by the time limit only', async () => {
  const url = await endpoint(() => {})
  expect(await rank(new Embeddings({ url, timeoutMs: 50 }), 'pet')).toEqual([])
})
