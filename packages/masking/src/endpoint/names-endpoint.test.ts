// This file verifies that names are masked where the endpoint reports them, and that any failure to search a text is an
// error.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { Masker } from '../masker.ts'
import { RECOGNISERS } from '../recognisers.ts'
import { createNameFinder } from './names-endpoint.ts'

interface Asked {
  text: string
  language: string
  entities: string[]
}
type Answer = (response: ServerResponse, asked: Asked, request: IncomingMessage) => void

async function endpoint(answer: Answer): Promise<{ url: string; asked: Asked[] }> {
  const asked: Asked[] = []
  const server = createServer((request, response) => {
    const parts: Buffer[] = []
    request.on('data', (part: Buffer) => parts.push(part))
    request.on('end', () => {
      const body = JSON.parse(Buffer.concat(parts).toString()) as Asked
      asked.push(body)
      answer(response, body, request)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked }
}

const json = (response: ServerResponse, value: unknown): void =>
  void response.setHeader('content-type', 'application/json').end(JSON.stringify(value))

/** Offsets count code points, as Presidio's do (Python). */
const finds =
  (...names: string[]): Answer =>
  (response, { text }) => {
    const characters = Array.from(text)
    const found = names.flatMap((name) => {
      const places: object[] = []
      for (let at = 0; at < characters.length; at += 1) {
        const end = at + Array.from(name).length
        if (characters.slice(at, end).join('') === name)
          places.push({ start: at, end, entity_type: 'PERSON', score: 0.85, analysis_explanation: null })
      }
      return places
    })
    json(response, found)
  }

const masker = (url: string, timeoutMs?: number) => new Masker([RECOGNISERS.email], createNameFinder(url, timeoutMs))

it('names become stable tokens that are put back, behind characters of any size', async () => {
  const { url, asked } = await endpoint(finds('Alice Smith', '𠮷田'))
  const one = masker(url)
  const texts = ['😀 by Alice Smith', '𝒳 and 𠮷田; Alice Smith <alice@x.example>']
  expect(await one.masked((mask) => texts.map((text) => mask(text)))).toEqual([
    '😀 by [PERSON_1]',
    '𝒳 and [PERSON_2]; [PERSON_1] <[EMAIL_1]>',
  ])
  expect(one.unmask('[PERSON_2] [PERSON_1]')).toBe('𠮷田 Alice Smith')
  expect(asked).toHaveLength(1)
  expect(asked[0]).toMatchObject({ language: 'en', entities: ['PERSON', 'LOCATION'] })
})

it('names are looked for in texts without already masked values, each text once, and in no others', async () => {
  const { url, asked } = await endpoint(finds())
  await masker(url).masked((mask) => [mask('to alice@x.example'), mask('to alice@x.example'), mask('12, 13'), mask('')])
  expect(asked.map(({ text }) => text)).toEqual(['to [EMAIL_1]'])
  await masker(url).masked((mask) => mask('alice@x.example 42'))
  expect(asked).toHaveLength(1)
})

it('names are looked for in another language, of other kinds and with credentials when the address says so', async () => {
  const headers: unknown[] = []
  const { url, asked } = await endpoint((response, { text }, { headers: { authorization }, url: path }) => {
    headers.push([path, authorization])
    json(response, [{ start: 0, end: text.length, entity_type: 'NRP', score: 1 }])
  })
  const address = `${url.replace('//', '//me:pw@')}/presidio/?language=de&entities=PERSON,NRP`
  expect(await masker(address).masked((mask) => mask('Deutsche'))).toBe('[NRP_1]')
  expect(asked).toEqual([{ text: 'Deutsche', language: 'de', entities: ['PERSON', 'NRP'] }])
  expect(headers).toEqual([['/presidio/analyze', `Basic ${Buffer.from('me:pw').toString('base64')}`]])
})

it('names are found in a text of many requests, none of which cuts a word', async () => {
  const { url, asked } = await endpoint((response, { text }) => {
    const places = [...text.matchAll(/Alice Smith/g)].map(({ index }) => index)
    json(
      response,
      places.map((start) => ({ start, end: start + 11, entity_type: 'PERSON' })),
    )
  })
  const text = 'by Alice Smith\n'.repeat(20_000)
  expect(await masker(url).masked((mask) => mask(text))).toBe('by [PERSON_1]\n'.repeat(20_000))
  expect(asked.length).toBeGreaterThan(2)
})

it('names are found in a text that contains another one, which is masked by itself', async () => {
  const { url } = await endpoint(finds('Alice Smith'))
  const nested = await masker(url).masked((mask) => mask(`Alice Smith as ${mask('x-Alice Smith').replace(' ', '%20')}`))
  expect(nested).toBe('[PERSON_1] as x-[PERSON_1]')
})

it('names are masked in a text that differs each time', async () => {
  const { url } = await endpoint(finds('Alice Smith'))
  let count = 0
  await expect(masker(url).masked((mask) => mask(`${(count += 1)} Alice Smith`))).rejects.toMatchObject({
    code: 'MASK_UNAVAILABLE',
  })
})

it('names that overlap each other, other texts or tokens leave tokens whole', async () => {
  const { url } = await endpoint((response, { text }) => {
    json(response, [
      { start: 0, end: text.length, entity_type: 'PERSON' },
      { start: 0, end: 3, entity_type: 'LOCATION' },
      { start: 2, end: 12, entity_type: 'PERSON' },
    ])
  })
  const one = masker(url)
  const masked = await one.masked((mask) => ['Al a@x.example Bo', 'Cy'].map((text) => mask(text)))
  expect(masked.join()).not.toMatch(/Al|Bo|Cy/)
  expect(masked.map((text) => one.unmask(text))).toEqual(['Al a@x.example Bo', 'Cy'])
})

const elsewhere = async (): Promise<{ url: string; asked: Asked[] }> => endpoint(finds())

it.each<[string, Answer, RegExp]>([
  ['answers with an error', (response) => void response.writeHead(500).end('no'), /status 500/],
  ['answers with HTML', (response) => void response.end('<html>'), /invalid response/],
  ['answers with an object', (response) => json(response, { error: 'x' }), /invalid response/],
  ['closes the connection', (response) => void response.destroy(), /searched for names: \w/],
  [
    'breaks off its answer',
    (response) => {
      response.writeHead(200, { 'content-length': 100 }).write('[]')
      setImmediate(() => response.destroy())
    },
    /searched for names: \w/,
  ],
  ['says nothing', () => {}, /did not answer within 0.3 s/],
  [
    'says one byte at a time',
    (response) => {
      const timer = setInterval(() => response.write(' '), 20)
      response.on('close', () => clearInterval(timer))
    },
    /did not answer within 0.3 s/,
  ],
  [
    'finds a place outside',
    (response) => json(response, [{ start: 0, end: 99, entity_type: 'PERSON' }]),
    /invalid response/,
  ],
  [
    'finds a place before the text',
    (response) => json(response, [{ start: -1, end: 2, entity_type: 'PERSON' }]),
    /invalid response/,
  ],
  [
    'finds a place that ends before it begins',
    (response) => json(response, [{ start: 2, end: 1, entity_type: 'PERSON' }]),
    /invalid response/,
  ],
  [
    'finds half a place',
    (response) => json(response, [{ start: 0.5, end: 2, entity_type: 'PERSON' }]),
    /invalid response/,
  ],
  [
    'finds a kind that is no word',
    (response) => json(response, [{ start: 0, end: 2, entity_type: 'A] [B' }]),
    /invalid response/,
  ],
  [
    'finds a million places',
    (response) =>
      json(
        response,
        Array.from({ length: 60_000 }, () => ({ start: 0, end: 2, entity_type: 'PERSON' })),
      ),
    /invalid response/,
  ],
  [
    'answers with brackets',
    (response) => void response.end('['.repeat(4 << 20)),
    /searched for names: its response has/,
  ],
  [
    'answers without end',
    (response) => {
      const chunk = Buffer.alloc(1 << 16, 0x20)
      const more = (): void => {
        while (!response.destroyed && response.write(chunk));
      }
      response.on('drain', more)
      more()
    },
    /more than 8 MB|0.3 s/,
  ],
])('a text is withheld when the endpoint for names %s', async (_, answer, reason) => {
  const { url } = await endpoint(answer)
  // Only an endpoint that never ends its response reaches the timeout.
  const masked = masker(url, reason.source.includes('0.3') ? 300 : 30_000).masked((mask) => mask('by Alice Smith'))
  await expect(masked).rejects.toMatchObject({
    code: 'MASK_UNAVAILABLE',
    message: expect.stringMatching(reason) as string,
  })
  await expect(masked).rejects.not.toThrow(/Alice|127\.0\.0\.1/)
})

it('a text is withheld, and sent nowhere else, when the endpoint for names redirects', async () => {
  const other = await elsewhere()
  const { url } = await endpoint((response) => void response.writeHead(307, { location: `${other.url}/analyze` }).end())
  await expect(masker(url).masked((mask) => mask('by Alice Smith'))).rejects.toMatchObject({
    code: 'MASK_UNAVAILABLE',
  })
  expect(other.asked).toEqual([])
})

it('a text is withheld when the endpoint for names cannot be reached', async () => {
  await expect(masker('http://127.0.0.1:9').masked((mask) => mask('by Alice Smith'))).rejects.toMatchObject({
    code: 'MASK_UNAVAILABLE',
  })
})

it('a text that is too long is withheld, and the endpoint for names is not asked', async () => {
  const { url, asked } = await endpoint(finds())
  await expect(masker(url).masked((mask) => mask('ab '.repeat(400_000)))).rejects.toThrow('1000000 at most')
  expect(asked).toEqual([])
})
