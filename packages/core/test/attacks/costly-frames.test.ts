// This file verifies one line of legal length that would block the whole bridge while it is parsed, written by a cell
// past its kernel.
import { beforeAll, describe, expect, it } from 'vitest'
import { FrameDecoder } from '../../src/cell/protocol/codec.ts'
import { type CellRunner, sharedCells } from '../support/sandboxes/cell-runner.ts'
import { makeProvider } from '../support/sandboxes/engines.ts'
import { whyNoPython } from '../support/sandboxes/plain-kernel.ts'
import { startPlainPython } from '../support/sandboxes/plain-python.ts'
import { skip } from '../support/suite/needs.ts'

const embedded = makeProvider('pyodide')
beforeAll(() => embedded.prepare(), 300_000)

const inEmbedded = sharedCells(embedded)
const inPython = sharedCells({ start: async () => startPlainPython() })
const KERNELS: [name: string, start: () => Promise<CellRunner> | string, open: string][] = [
  ['the embedded sandbox', inEmbedded, "os.open('/dev/sandbridge', os.O_WRONLY)"],
  [
    'CPython',
    () => whyNoPython() ?? inPython(),
    "next(one._out for one in gc.get_objects() if type(one).__name__ == 'PipePort')",
  ],
]

const PRELUDE = `
import gc, os
def send(fd, data):
    while data: data = data[os.write(fd, data[:1 << 20]):]
`

const LINES: [what: string, python: string, text: string][] = [
  ['objects', `'{"type":"x","a":[' + '{},' * 1_500_000 + '1]}'`, `{"type":"x","a":[${'{},'.repeat(1_500_000)}1]}`],
  ['open brackets', `'[' * 6_000_000`, '['.repeat(6_000_000)],
]

describe.each(KERNELS)('%s', (_name, start, open) => {
  const startOrSkip = async (): Promise<CellRunner> => {
    const cells = await start()
    return typeof cells === 'string' ? skip(cells) : cells
  }
  /** How many more frames were malformed after `work`. */
  const malformedIn = async ({ kernel }: CellRunner, work: () => Promise<void>): Promise<number> => {
    const before = kernel.channel.malformedCount
    await work()
    return kernel.channel.malformedCount - before
  }

  it.for(LINES)('frames that hold up a parser cost one malformed frame: %s', async ([, python]) => {
    const cells = await startOrSkip()
    const malformed = await malformedIn(cells, async () => {
      expect((await cells.run(`${PRELUDE}\nsend(${open}, (${python} + '\\n').encode())`)).status).toBe('ok')
      expect((await cells.run('6 * 7')).value).toBe('42')
    })
    expect(malformed).toBe(1)
    expect(cells.kernel.channel.malformedReason).toMatch(
      /^more than 1048576 of|^lists and objects nested more than 1000 deep/,
    )
  })

  it('a call over the size limit is an error in the cell, and one of a million numbers is accepted', async () => {
    const cells = await startOrSkip()
    let counted = 0
    const onCall = (call: { params?: unknown }) => {
      counted = ((call.params as { kwargs: { numbers: number[] } }).kwargs.numbers ?? []).length
      return { content: [] }
    }
    const malformed = await malformedIn(cells, async () => {
      const many = await cells.run('await mcp_host.take(numbers=[7] * 1_000_000)', onCall)
      expect([many.status, counted]).toEqual(['ok', 1_000_000])
      const tooMany = await cells.run('await mcp_host.take(numbers=[7] * 1_100_000)', onCall)
      expect(tooMany.error?.message).toMatch(/too large: 1,100,0\d\d brackets, colons and commas/)
    })
    expect(malformed).toBe(0)
  })

  it('a value over the size limit is shown as its texts', async () => {
    const cells = await startOrSkip()
    const code = `
class Figure:
    def _repr_mimebundle_(self, **_):
        return {'text/plain': 'a figure', 'application/json': [1] * 1_100_000}
Figure()`
    const malformed = await malformedIn(cells, async () =>
      expect(await cells.run(code)).toMatchObject({ status: 'ok', value: 'a figure' }),
    )
    expect(malformed).toBe(0)
  })
})

it.each(LINES)('control: %s hold up a parser without the check', (_what, _python, text) => {
  const line = Buffer.from(`${text}\n`)
  const before = process.cpuUsage()
  new FrameDecoder({ onFrame: () => {}, onMalformed: () => {} }).push(line)
  const decoding = process.cpuUsage(before)
  try {
    JSON.parse(line.toString())
  } catch {
    // Not JSON, which the parser notices only at the end.
  }
  const parsing = process.cpuUsage(before)
  expect(parsing.user + parsing.system).toBeGreaterThan(6 * (decoding.user + decoding.system))
})
