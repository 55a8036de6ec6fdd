import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import type { ServerDefinition } from '../../config/entries/server-definition.ts'
import { createNegotiatedTransports, type NegotiatedTransport } from './negotiated-transports.ts'

async function temporaryFile(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'transports-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  return join(folder, 'file')
}

const server = (name: string): ServerDefinition => ({
  name,
  transport: { type: 'http', url: `http://${name}/`, headers: {} },
  source: { client: 'test', file: 'test' },
})

/** Waits until the file has this many entries; the test's own timeout is the limit. */
async function written(file: string, count: number): Promise<void> {
  const size = async () => Object.keys(JSON.parse(await readFile(file, 'utf8').catch(() => '{}')) as object).length
  while ((await size()) < count) await new Promise((resolve) => setTimeout(resolve, 5))
}

const modern: NegotiatedTransport = { via: 'http', era: 'modern' }
const legacy: NegotiatedTransport = { via: 'sse', era: 'legacy' }

it('bridges that share the file of negotiated transports keep and learn what the others found out', async () => {
  const file = await temporaryFile()
  const [a, b] = [createNegotiatedTransports(file), createNegotiatedTransports(file)]
  // Both have read the file before either writes to it.
  expect([await a.get(server('a')), await b.get(server('b'))]).toEqual([undefined, undefined])
  a.set(server('a'), modern)
  await written(file, 1)
  b.set(server('b'), legacy)
  await written(file, 2)
  const later = createNegotiatedTransports(file)
  expect([await later.get(server('a')), await later.get(server('b'))]).toEqual([modern, legacy])
  // The file may exist before `b` knows that it has been written.
  await expect.poll(() => b.get(server('a'))).toEqual(modern)
})

it('the newest transport of a server is kept', async () => {
  const file = await temporaryFile()
  const [a, b] = [createNegotiatedTransports(file), createNegotiatedTransports(file)]
  a.set(server('a'), legacy)
  await written(file, 1)
  b.set(server('a'), modern)
  b.set(server('b'), modern)
  await written(file, 2)
  a.set(server('c'), modern)
  await written(file, 3)
  expect(await createNegotiatedTransports(file).get(server('a'))).toEqual(modern)
  // The file may exist before `a` knows that it has been written.
  await expect.poll(() => a.get(server('a'))).toEqual(modern)
})
