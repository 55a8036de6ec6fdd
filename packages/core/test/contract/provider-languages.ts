// What every provider promises for cells of other languages, or reports as unsupported.
import { describe, expect } from 'vitest'
import { BridgeError } from '../../src/errors.ts'
import { languages } from '../../src/cell/javascript-part.ts'
import type { CallFrame } from '../../src/cell/protocol/frames.ts'
import type { Provider } from '../../src/isolation/provider.ts'
import { type CellRunner, sharedCells, startCells } from '../support/sandboxes/cell-runner.ts'
import { makeNodeProvider, type TestedProvider, whyNot } from '../support/sandboxes/engines.ts'
import type { ProviderTest } from './provider-accidents.ts'
import { skip } from '../support/suite/needs.ts'

/** A process may end while its name is read. */
const NAMES_OF_PROCESSES = `
def names_of_processes():
    import os
    names = []
    for pid in filter(str.isdigit, os.listdir('/proc')):
        try:
            with open(f'/proc/{pid}/comm') as name:
                names.append(name.read().strip())
        except OSError:
            pass
    return names
`

export function testLanguages(
  name: TestedProvider,
  provider: Provider,
  shared: () => Promise<CellRunner>,
  promise: ProviderTest,
): void {
  describe(`${name}: bash cells`, () => {
    const bash = (cells: CellRunner, code: string, onCall?: (call: CallFrame) => unknown) =>
      cells.run(code, onCall, 'bash')

    if (name === 'pyodide') {
      promise('a bash cell says plainly that this sandbox has no bash', async () => {
        const cells = await shared()
        const { status, error } = await bash(cells, 'echo hi')
        expect([status, error?.message]).toEqual(['error', 'The embedded sandbox has no bash'])
        expect((await cells.run('1 + 1')).value).toBe('2')
      })
      return
    }

    promise('a bash cell prints, keeps variables and shares files with Python', async () => {
      const cells = await shared()
      const first = await bash(cells, 'x=1; f() { echo "f $x"; }; echo text > /workspace/file; id -u; exit 3')
      expect([first.status, first.error?.message]).toEqual(['error', '3'])
      expect(first.output).toMatch(/^[1-9]\d*\n$/)
      expect((await cells.run('open("/workspace/file").read()')).value).toBe("'text\\n'")
      expect((await bash(cells, 'f; cat /workspace/file')).output).toBe('f 1\ntext\n')
    })

    promise('a bash cell calls tools with `mcp`, and gets its status', async () => {
      const cells = await shared()
      const asked: unknown[] = []
      const doc = { server: 'host', tool: 'add', serverAlias: 'host', toolAlias: 'add', description: '', params: [] }
      const { output, status } = await bash(
        cells,
        'mcp host add --a 1 --b "x y" && mcp host fail || echo "status $?"',
        (call) => {
          if (call.method === 'query_tool_docs') {
            const { tools } = call.params as { tools: string[] }
            return [{ ...doc, tool: tools[0], inputSchema: { properties: { a: { type: 'number' } } } }]
          }
          asked.push(call.params)
          if (asked.length === 2) throw new BridgeError('TOOL_FAILED', 'no')
          return { content: [], structuredContent: { sum: 3 } }
        },
      )
      expect([status, output]).toEqual(['ok', expect.stringContaining('{"sum": 3}\n')])
      expect(output).toContain('status 1\n')
      expect(asked[0]).toEqual({ server: 'host', tool: 'add', args: [], kwargs: { a: 1, b: 'x y' } })
    })

    promise('a bash cell is interrupted with all processes that it has started', async () => {
      const cells = await shared()
      const running = bash(cells, 'kept=1; echo looping; tail -f /dev/null | cat')
      await cells.printed('looping')
      cells.kernel.interrupt()
      expect((await running).status).toBe('interrupted')
      await cells.run(NAMES_OF_PROCESSES)
      // The first process may not have noticed it yet.
      while ((await cells.evaluate<string[]>('names_of_processes()')).includes('tail'))
        await cells.run('import time; time.sleep(0.05)')
      expect((await bash(cells, 'echo "kept $kept"')).output).toBe('kept 1\n')
    })

    promise('a bash cell is held to the memory of the sandbox', async () => {
      const cells = await startCells(provider)
      const greedy = await bash(cells, 'x=$(head -c 900000000 /dev/zero | tr "\\0" x); echo "${#x}"')
      expect(greedy.output).not.toContain('900000000')
    })
  })

  describe(`${name}: JavaScript cells`, () => {
    const withNode = makeNodeProvider(name) ?? provider
    const sharedWithNode = withNode === provider ? shared : sharedCells(withNode)
    const start = async (open = () => startCells(withNode)) => {
      if (!languages.isHere) skip('JavaScript is not in this build')
      const why = withNode === provider ? undefined : await whyNot(withNode)
      if (why !== undefined) skip(why)
      return open()
    }
    const js = (cells: CellRunner, code: string, onCall?: (call: CallFrame) => unknown) =>
      cells.run(
        code,
        async (call) => {
          if (call.method !== 'language_files') return onCall?.(call)
          const { embedded } = call.params as { embedded?: boolean }
          return (await languages.for('a test')).languageFiles('javascript', embedded ? 'embedded' : 'programs')
        },
        'javascript',
      )
    const hasNode = name !== 'pyodide'

    if (withNode !== provider && name !== 'bubblewrap' && name !== 'bubblewrap-fork') {
      promise('a JavaScript cell says plainly that this image has no Node', async () => {
        const cells = await shared()
        const { status, error } = await js(cells, '1')
        expect([status, error?.message]).toEqual(['error', 'This sandbox has no node, which runs JavaScript cells'])
        expect((await cells.run('1 + 1')).value).toBe('2')
      })
    }

    promise('a JavaScript cell prints, keeps variables and shares files with Python', async () => {
      const cells = await start(sharedWithNode)
      const first = await js(
        cells,
        `import { writeFileSync } from 'node:fs'
const x: number = 1
console.log(${hasNode ? 'process.getuid() > 0' : true})
writeFileSync('/workspace/file', 'text')
throw new Error('late')`,
      )
      expect([first.status, first.error?.message, first.output]).toEqual(['error', 'late', 'true\n'])
      expect((await cells.run('open("/workspace/file").read()')).value).toBe("'text'")
      expect((await js(cells, 'const y = await import("node:fs"); [x, y.readFileSync("file", "utf8")]')).value).toBe(
        "[ 1, 'text' ]",
      )
    })

    promise('a JavaScript cell calls tools, also at once', async () => {
      const cells = await start(sharedWithNode)
      const asked: unknown[] = []
      const { value } = await js(
        cells,
        `const all = await Promise.all([1, 2, 3].map((a) => host.add({ a })))
const failed = await host.fail().catch((error) => error.code)
;[all.map(({ sum }) => sum).join(), failed]`,
        ({ params }) => {
          asked.push(params)
          const { tool, kwargs } = params as { tool: string; kwargs: { a: number } }
          if (tool === 'fail') throw new BridgeError('TOOL_FAILED', 'no')
          return { content: [], structuredContent: { sum: kwargs.a * 2 } }
        },
      )
      expect(value).toBe("[ '2,4,6', 'TOOL_FAILED' ]")
      expect(asked[0]).toEqual({ server: 'host', tool: 'add', args: [], kwargs: { a: 1 } })
    })

    promise('a JavaScript cell is interrupted, busy or not, and keeps its variables', async () => {
      const cells = await start(sharedWithNode)
      for (const code of ['await new Promise(() => {})', 'for (;;);', 'await null; for (;;) await null']) {
        const running = js(cells, `globalThis.kept = 1; console.log('looping'); ${code}`)
        await cells.printed('looping')
        cells.kernel.interrupt()
        expect((await running).status, code).toBe('interrupted')
        expect((await js(cells, 'kept')).value, code).toBe('1')
      }
    })

    promise('a JavaScript cell is held to the memory and the processes of the sandbox', async () => {
      const cells = await start()
      const greedy = await js(cells, 'const all = []; for (;;) all.push(new Uint8Array(10 << 20).fill(1))')
      expect(greedy.status).not.toBe('ok')
      if (!hasNode) return
      const others = await start()
      const many = await js(
        others,
        `const { spawn } = require('node:child_process')
let failed = 0
for (let n = 0; n < 300; n++) { const child = spawn('sleep', ['600']); child.on('error', () => (failed += 1)) }
await new Promise((resolve) => setTimeout(resolve, 500))
failed > 100`,
      )
      expect(many.value === 'true' || many.status !== 'ok', JSON.stringify(many)).toBe(true)
    })
  })
}
