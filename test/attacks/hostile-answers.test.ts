// @module-tag whole: brackets that fill memory; costly-frames.test.ts has the wall
// This file verifies hostile answers of servers, and answers that a cell does not read: neither may end the sandbox or
// fill the bridge's memory.
import { beforeAll, describe, expect, it } from 'vitest'
import { type CellRunner, sharedCells, startCells } from '@sandbridge/core/test/support/sandboxes/cell-runner.ts'
import { makeProvider, whyNot } from '@sandbridge/core/test/support/sandboxes/engines.ts'
import { openPods } from '@sandbridge/kubernetes/test/support/fake-cluster/pods.ts'
import type { CallFrame } from '../../packages/core/src/cell/protocol/frames.ts'
import { skip } from '@sandbridge/core/test/support/suite/needs.ts'

const text = (words: string) => ({ type: 'text', text: words })
const MIB = 1 << 20

/**
 * Made on demand, because they are large. `told` is the text of the call's error; without it, the call returns a value.
 */
const ANSWERS: [what: string, answer: () => unknown, told?: RegExp][] = [
  ['sixty megabytes of brackets as text', () => ({ content: [text(`[${'[],'.repeat(20_000_000)}1]`)] })],
  [
    'the same in many blocks',
    () => ({ content: Array.from({ length: 30 }, () => text(`[${'{},'.repeat(600_000)}1]`)) }),
  ],
  [
    'two million objects',
    () => ({ structuredContent: { result: Array.from({ length: 2_000_000 }, () => ({})) } }),
    /more than 1048576/,
  ],
  ['a million blocks', () => ({ content: Array.from({ length: 1_000_000 }, () => text('')) }), /more than 1048576/],
  ['brackets in each other', () => ({ structuredContent: nested(100_000) }), /FRAME_TOO_LARGE|Maximum call stack|deep/],
  ['a long text of wide characters', () => ({ content: [text(`😀${'x'.repeat(25_000_000)}`)] })],
]

/** Nested objects, made without recursion. */
function nested(depth: number): unknown {
  let value: unknown = {}
  for (let count = 0; count < depth; count += 1) value = { value }
  return value
}

/** Sends raw calls past the kernel and reads no answers. */
const FLOOD = `
import gc, json, os, signal, sys, time
if hasattr(signal, 'SIGIO') and sys.platform != 'emscripten': signal.signal(signal.SIGIO, signal.SIG_IGN)
fd = os.open('/dev/sandbridge', os.O_WRONLY) if os.path.exists('/dev/sandbridge') else next(one._out for one in gc.get_objects() if type(one).__name__ == 'PipePort')
frames = [{'type': 'call', 'id': 10**9 + i, 'cell': CELL, 'method': METHOD, 'params': {}} for i in range(COUNT)]
data = ''.join(json.dumps(frame) + '\\n' for frame in frames).encode()
while data: data = data[os.write(fd, data):]
until = time.monotonic() + 1
while time.monotonic() < until: pass`

const pods = await openPods()

// One of each kind: no Python process, one on this machine, as those of containers, one behind a relay.
describe.each(['pyodide', 'bubblewrap', 'kubernetes'] as const)('%s', { timeout: 180_000 }, (name) => {
  const provider = name === 'kubernetes' ? pods.provider : makeProvider(name)
  let missing: string | undefined
  beforeAll(async () => {
    missing = await whyNot(provider)
  }, 300_000)
  const start = async (open = () => startCells(provider)): Promise<CellRunner> => {
    if (missing !== undefined) skip(missing)
    return open()
  }
  const shared = sharedCells(provider)

  it.for(ANSWERS)('hostile answers are an error and keep the variables: %s', async ([, answer, told]) => {
    const cells = await start(shared)
    await cells.run('kept = 42')
    const code = 'try: await mcp_host.ask()\nexcept Exception as error: print(str(error)[:1000])'
    const { status, output, error, exit } = await cells.run(code, answer)
    expect(status, error?.traceback ?? exit?.detail ?? output).toBe('ok')
    if (told) expect(output).toMatch(told)
    // Too little memory for the answer must not lose the variables.
    else expect(output).toMatch(/^$|has not enough memory for the answer|^\n$/)
    expect((await cells.run('kept')).value).toBe('42')
  })

  it('control: a cell that parses those brackets into objects is lost, or out of memory', async () => {
    if (name === 'kubernetes') skip('only on this machine itself: these pods run the Python of bubblewrap')
    const cells = await start()
    const { status, error } = await cells.run(`import json\nx = json.loads('[' + '[],' * 20_000_000 + '1]')`)
    expect(status === 'died' || error?.name === 'MemoryError').toBe(true)
  })

  it.for([
    ['open_artifact', 30, 200, 5],
    // Its replies together are more than may stay unread, and its calls more than arrive at once.
    ['call_tool', 3_000, 4_000, 1 / 4],
  ] as const)(
    'answers to %s that a cell does not read are requested for %s of %s calls at most',
    async ([method, most, count, mebibytes]) => {
      const cells = await start()
      let begun = 0
      const onCall = (call: CallFrame) => {
        if (call.id < 10 ** 9) return { content: [] }
        begun += 1
        return 'x'.repeat(mebibytes * MIB)
      }
      const stdin = cells.kernel.sandbox.stdin
      const flood = FLOOD.replace('CELL', '1').replace('METHOD', `'${method}'`).replace('COUNT', `${count}`)
      const { status } = await cells.run(flood, onCall)
      expect(status).toBe('ok')
      expect(begun).toBeLessThanOrEqual(most)
      // The control: the flood arrives, and many calls are begun. What stays unread is limited.
      if (method === 'call_tool') expect(begun).toBeGreaterThan(20)
      expect(stdin.writableLength).toBeLessThan(136 * MIB)
    },
  )
})
