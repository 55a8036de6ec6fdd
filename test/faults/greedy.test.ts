// @module-tag whole: a fault that takes seconds to make
// This file verifies that sessions that take all they can get do not make another one wait until they are done.
// `npm run bench -- fairness` measures how long each waits.
import { expect, it } from 'vitest'
import { fixtureServer } from '@sandbridge/core/test/support/bridges/bridge-process.ts'
import { sharedHttpBridge } from '@sandbridge/core/test/support/bridges/shared-bridge.ts'

const SECONDS = 60
const LATE = `deadline = time.monotonic() + ${SECONDS}`

const bridge = sharedHttpBridge({ servers: { shared: fixtureServer('raw.mjs', 'good') } })

it.each([
  ['loops', `import time\n${LATE}\nwhile time.monotonic() < deadline: pass`],
  ['prints without end', `import time\n${LATE}\nwhile time.monotonic() < deadline: print("x" * 10_000)`],
  [
    'calls without end',
    `import asyncio, time\n${LATE}\nwhile time.monotonic() < deadline:\n` +
      '    await asyncio.gather(*(mcp_shared.echo(text="y" * 1000) for _ in range(200)))',
  ],
  [
    'fills its memory',
    `import time\n${LATE}\nkept = []\nwhile time.monotonic() < deadline:\n    try: kept.append(bytearray(1 << 20))\n` +
      '    except MemoryError: kept.clear()',
  ],
])('a session runs cells and calls beside one that %s', { timeout: 180_000 }, async (_what, code) => {
  const [quiet, greedy] = [await bridge().connect('legacy'), await bridge().connect('legacy')]
  await Promise.all([quiet.run('count = 0\nawait mcp_shared.echo(text="warm")'), greedy.run('1')])
  const stop = new AbortController()
  let isOver = false
  const taking = greedy
    .run(code, { timeout: SECONDS * 2 }, { signal: stop.signal })
    .catch(() => {})
    .finally(() => (isOver = true))
  for (let count = 1; count <= 8; count += 1) {
    expect(await quiet.run('count += 1\nawait mcp_shared.echo(text=f"cell {count}")')).toBe(`'cell ${count}'`)
  }
  expect(isOver).toBe(false)
  stop.abort()
  await taking
})
