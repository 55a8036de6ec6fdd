// This file verifies what a model experiences from cell to cell, in the embedded sandbox.
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { thisNode } from '../../src/isolation/pyodide/command.ts'
import {
  ANY_RUNTIME,
  CLI,
  closeTestBridge,
  makeHome,
  openTestBridge,
  type TestBridge,
  REAL_SANDBOX,
} from '../support/bridge-process.ts'
import { startBridge } from '../support/start-bridge.ts'
import { needsLinux, skip } from '../support/needs.ts'

let bridge: TestBridge
beforeAll(async () => {
  bridge = await openTestBridge({ env: REAL_SANDBOX })
})
afterAll(() => closeTestBridge(bridge))

describe('a cell', () => {
  it('a cell keeps variables, imports and functions for the next one', async () => {
    await bridge.run('import math\nradius = 2\ndef area(r): return math.pi * r * r')
    expect(await bridge.run('round(area(radius), 3)')).toBe('12.566')
  })

  it('a cell awaits at the top level', async () => {
    expect(await bridge.run('import asyncio\nawait asyncio.sleep(0.01, "done")')).toBe("'done'")
  })

  it('a cell runs asyncio.run in code without a top-level await', async () => {
    expect(await bridge.run('import asyncio\nasync def main():\n    return 5\nasyncio.run(main())')).toBe('5')
  })

  it('a cell shows print, stderr and the last value apart', async () => {
    const { structured } = await bridge.call({
      code: 'import sys\nprint("out")\nprint("err", file=sys.stderr)\n[1, 2]',
    })
    expect(structured).toEqual({ status: 'ok', stdout: 'out\n', stderr: 'err\n', value: '[1, 2]' })
  })

  it('a cell captures output to file descriptors', async () => {
    const { structured } = await bridge.call({
      code: 'import os\nos.write(1, b"raw\\xff\\n")\nos.write(2, b"raw2\\n");None',
    })
    expect(structured).toMatchObject({ stdout: 'raw\ufffd\n', stderr: 'raw2\n' })
  })

  it('a cell shows a traceback of its own lines only', async () => {
    const { text, isError, structured } = await bridge.call({ code: 'def f():\n    return 1 / 0\nf()' })
    expect(isError).toBe(true)
    expect(text).toMatch(/line 3[\s\S]*f\(\)[\s\S]*line 2[\s\S]*1 \/ 0[\s\S]*ZeroDivisionError: division by zero/)
    expect(text).not.toMatch(/sandbridge_kernel|asyncio|runpy/)
    expect(structured).toMatchObject({
      status: 'error',
      error: { name: 'ZeroDivisionError', message: 'division by zero' },
    })
  })

  it.each([
    ['a syntax error', 'x = (1,\ny = 2', /SyntaxError/],
    ['deep recursion', 'def f(): return f()\nf()', /RecursionError/],
    ['sys.exit with a message', 'import sys\nsys.exit("bye")', /SystemExit: bye/],
    ['an exception whose text cannot be made', 'class E(Exception):\n    def __str__(self): raise E\nraise E', /E/],
    ['a repr that raises', 'class R:\n    def __repr__(self): raise ValueError("no repr")\nR()', /no repr/],
  ])('an ordinary error in a cell is %s', async (_, code, expected) => {
    const { isError, text } = await bridge.call({ code })
    expect(isError).toBe(true)
    expect(text).toMatch(expected)
    expect(await bridge.run('"alive"')).toBe("'alive'")
  })

  it('a cell may call sys.exit(0)', async () => {
    expect((await bridge.call({ code: 'print("x")\nimport sys\nsys.exit()' })).isError).toBe(false)
  })

  it('a cell loses its background tasks at its end, and its result says so', async () => {
    const { text, isError } = await bridge.call({
      code: 'import asyncio\nasync def forever():\n    while True: await asyncio.sleep(1)\ntask = asyncio.create_task(forever())\nawait asyncio.sleep(0)',
    })
    expect(isError).toBe(false)
    expect(text).toMatch(/task.*cancelled/)
    expect(await bridge.run('task.cancelled()')).toBe('True')
  })

  it('a cell may print 100 MB: the ends are kept and the session lives', { tags: ['whole'] }, async () => {
    const { text } = await bridge.call({
      code: 'print("BEGIN")\nfor _ in range(1000): print("x" * 100_000)\nprint("END")',
      timeout: 100,
    })
    expect(countTokens(text)).toBeLessThanOrEqual(6_000)
    expect(text).toMatch(/^BEGIN[\s\S]*left out[\s\S]*\nEND\n\[sandbridge: Truncated/)
    expect(await bridge.run('1')).toBe('1')
  })
})

describe('a value nested too deeply for WebAssembly', () => {
  const env = { MCP_BRIDGE_RUNTIME: 'pyodide' }
  const tooDeep = { code: 'kept = 1\nimport json\njson.loads("[" * 10**6)' }

  it('a value nested too deeply is a RecursionError, and the variables stay', async () => {
    if (!thisNode.hasDeepStack) skip('the stack of a process is limited here')
    const embedded = ANY_RUNTIME === 'pyodide' ? bridge : await startBridge({ env })
    const { text } = await embedded.call(tooDeep)
    expect(text).toContain('RecursionError: Stack overflow')
    await embedded.run('import pickle\nx, y = [], []\nfor _ in range(300_000): x, y = [x], [y]')
    // Not repr(x): CPython compares each list with all lists around it, so its time grows with the square of the depth.
    for (const code of ['json.dumps(x)', 'pickle.dumps(x)', 'x == y']) {
      expect(await embedded.run(code)).toContain('RecursionError: Stack overflow')
    }
    expect(await embedded.run('del x, y\nkept')).toBe('1')
  })

  it('a value nested too deeply ends the sandbox where its stack is limited, the result says why once, and the next cell runs', async () => {
    needsLinux('there is no ulimit to set')
    const home = makeHome()
    const node = path.join(home, 'node-with-a-small-stack')
    writeFileSync(node, `#!/bin/sh\nulimit -s 8192\nexec "${process.execPath}" "$@"\n`, { mode: 0o755 })
    const limited = await openTestBridge({ home, env, command: { node, cli: CLI } })
    const { text, structured } = await limited.call(tooDeep)
    expect(structured['status']).toBe('killed')
    expect(text.match(/its stack overflowed/g)).toHaveLength(1)
    expect(text).not.toContain('had ended')
    expect(await limited.run('"fine"')).toBe("'fine'")
    await closeTestBridge(limited)
  })
})

describe('the time limit', () => {
  it('the time limit interrupts an endless loop and keeps the variables', async () => {
    await bridge.run('kept = "yes"')
    const { text, isError, structured } = await bridge.call({ code: 'while True: pass', timeout: 0.5 })
    expect(isError).toBe(true)
    expect(structured['status']).toBe('timeout')
    expect(text).toMatch(/Timed out after 0.5 s.*kept/)
    expect(await bridge.run('kept')).toBe("'yes'")
  })

  it.each([
    ['time.sleep', 'import time\ntime.sleep(60)'],
    ['an await', 'import asyncio\nawait asyncio.sleep(60)'],
    ['a catastrophic regex', 'import re\nre.match(r"(a+)+$", "a" * 40 + "b")'],
    ['a huge number', 'len(str(10 ** (10 ** 8)))'],
  ])('the time limit interrupts %s', async (_, code) => {
    await bridge.run('kept = "still"')
    expect((await bridge.call({ code, timeout: 0.5 })).structured['status']).toBe('timeout')
    expect(await bridge.run('kept')).toBe("'still'")
  })

  it('the time limit ends a sandbox that ignores the interrupt, reports the lost variables, and the next cell runs', async () => {
    const stubborn = 'while True:\n    try:\n        n = 0\n        while True: n += 1\n    except BaseException: pass'
    const { text, structured } = await bridge.call({ code: stubborn, timeout: 0.5 })
    expect(structured['status']).toBe('timeout')
    expect(text).toMatch(/variables are gone/)
    expect(await bridge.run('"kept" in globals()')).toBe('False')
  })
})

it('a cell is held to its memory limit, and the session lives', async () => {
  const { text, isError } = await bridge.call({
    code: 'blocks = []\nwhile True: blocks.append(bytearray(50_000_000))',
    timeout: 60,
  })
  expect(isError).toBe(true)
  expect(text).toMatch(/MemoryError|out of memory/)
  expect(await bridge.run('2 + 2')).toBe('4')
})

it('the variables of two clients are separate', async () => {
  const other = await startBridge()
  await bridge.run('secret = 1')
  expect(await other.run('"secret" in globals()')).toBe('False')
})

describe('cancelling', () => {
  it('cancelling interrupts the cell and keeps the session', async () => {
    await bridge.run('kept = 7')
    const client = new AbortController()
    const call = bridge.call({ code: 'while True: pass' }, { signal: client.signal })
    setTimeout(() => client.abort(), 500)
    await expect(call).rejects.toThrow()
    expect(await bridge.run('kept')).toBe('7')
  })
})
