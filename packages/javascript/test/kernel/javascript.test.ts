// This file verifies JavaScript cells over bare frames: output, displays, state and outcome.
import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { expect } from 'vitest'
import type { StdioProcess } from '../../../core/src/isolation/local/stdio-process.ts'
import { needsLinux } from '@sandbridge/core/test/support/suite/needs.ts'
import { descendants, until } from '@sandbridge/core/test/support/machine/processes.ts'
import { GITHUB, startKernel, it } from '@sandbridge/core/test/kernel/drive.ts'
import { js, value } from './drive-javascript.ts'
import { newFolder } from '@sandbridge/core/test/support/machine/new-folder.ts'

it('a JavaScript cell prints, and shows its last value', async ({ kernel }) => {
  const cell = await js(kernel, 'console.log("out", { a: [1] }); console.error("err");({ a: 1 + 1, b: "x" })')
  expect(cell).toMatchObject({
    status: 'ok',
    stdout: 'out { a: [ 1 ] }\n',
    stderr: 'err\n',
    value: { 'text/plain': "{ a: 2, b: 'x' }" },
  })
  expect((await js(kernel, 'let x = 5')).value).toBeUndefined()
  expect(await value(kernel, '"text"')).toBe("'text'")
  expect((await js(kernel, '({ a: [1] })', { json: true })).value).toMatchObject({ 'application/json': { a: [1] } })
  expect(kernel.badLines).toEqual([])
})

it('a JavaScript cell runs where a process may have as little memory as in a sandbox of 512 MiB', async () => {
  needsLinux('RLIMIT_DATA counts all memory only there')
  const kernel = await startKernel()
  await kernel.run('import resource\nresource.setrlimit(resource.RLIMIT_DATA, (448 << 20, 448 << 20))')
  const works = 'const [major] = process.version.slice(1).split("."); const n: number = 2; [major, n]'
  expect(await value(kernel, works)).toMatch(/^\[ '\d+', 2 \]$/)
})

it('a JavaScript cell keeps what it declares, and may declare it again', async ({ kernel }) => {
  await js(
    kernel,
    `import fs, { readFileSync as read } from 'node:fs'
import * as path from 'node:path'
const a = 1, { b, c: [d] } = { b: 2, c: [3] }
let e
var f = () => g() + a
function g() { return 10 }
class H { static x = 4 }
if (a) { var i = 5 }
for (var j = 0; j < 3; j++);
for (var k of [7]) ;
export const l = 8
async function m() { return a }
const crypto = 'mine', name = 'n'`,
  )
  expect(await value(kernel, '[a, b, d, e, f(), H.x, i, j, k, l, await m(), crypto, name].join()')).toBe(
    "'1,2,3,,11,4,5,3,7,8,1,mine,n'",
  )
  expect(await value(kernel, '[typeof fs.readFileSync, typeof read, path.basename("/x/y")]')).toBe(
    "[ 'function', 'function', 'y' ]",
  )
  expect(await value(kernel, 'const a = 2; function g() { return 20 }\nf()')).toBe('22')
  expect(await value(kernel, 'e = 9\nlet e2 = e\n;[e2, typeof g]')).toBe("[ 9, 'function' ]")
})

it('a JavaScript cell awaits, imports and requires', async ({ kernel }) => {
  expect(
    await value(
      kernel,
      `const { basename } = await import('node:path')
const os = require('os')
await new Promise((resolve) => setTimeout(resolve, 5))
const { setTimeout: sleep } = await import('node:timers/promises')
await sleep(1)
basename('/a/b') + typeof os.cpus`,
    ),
  ).toBe("'bfunction'")
  expect(await value(kernel, '(async () => 7)()')).toBe('7')
  expect(await value(kernel, 'for (const x of [1]) { if (x) return { found: x } }')).toBe('{ found: 1 }')
})

it('a JavaScript cell runs TypeScript', async ({ kernel }) => {
  expect(
    await value(
      kernel,
      `interface Issue { title: string; labels?: string[] }
type Id = number | string
enum Kind { Bug = 'bug' }
const issues: Issue[] = [{ title: 'a' } as Issue]
function first<T>(list: T[]): T | undefined { return list[0]! }
const id = <T,>(x: T): T => x
const seen = new Map<string, number>()
class Point { constructor(public x: number, private y = 2) {} }
[first<Issue>(issues)?.title, id<number>(3), Kind.Bug, new Point(1).x satisfies number, seen.size]`,
    ),
  ).toBe("[ 'a', 3, 'bug', 1, 0 ]")
  expect(await value(kernel, 'first<string>(["x"])')).toBe("'x'")
  expect(await value(kernel, 'let n = 3; [n<4, n>(2)]')).toBe('[ true, true ]')
})

it('a JavaScript cell names its own lines in errors', async ({ kernel }) => {
  await js(kernel, '// a comment\nfunction fails() {\n  throw new TypeError("no")\n}')
  const { error } = await js(kernel, 'const x = 1\n\nawait fails()')
  expect(error).toMatchObject({ name: 'TypeError', message: 'no' })
  expect(error?.traceback).toBe('Cell 1, line 3\n    throw new TypeError("no")\nTypeError: no\n    at Cell 2, line 3\n')
  expect((await js(kernel, 'let y: number = 1\nlet z: string = missing\n')).error?.traceback).toContain(
    'Cell 3, line 2\n    let z: string = missing\nReferenceError: missing is not defined',
  )
  const wrong = await js(kernel, 'let ok = 1\nlet = = 2')
  expect(wrong.error).toMatchObject({
    name: 'SyntaxError',
    traceback: expect.stringMatching(/^Cell 4, line 2\n {4}let = = 2\n {4}\^\nSyntaxError: /),
  })
  expect(await value(kernel, 'typeof ok')).toBe("'undefined'")
  expect((await js(kernel, 'throw { odd: 1 }')).error?.traceback).toBe('Uncaught { odd: 1 }\n')
  expect((await js(kernel, 'Promise.reject(new Error("nobody looks")); 1')).error?.message).toBe('nobody looks')
  expect((await js(kernel, 'throw new Error("a", { cause: new RangeError("b") })')).error?.traceback).toContain(
    'Caused by: ',
  )
})

it('a JavaScript cell ends with process.exit, and the next one runs', async ({ kernel }) => {
  expect((await js(kernel, 'globalThis.kept = 1; process.exit(3)')).error).toMatchObject({
    name: 'ExitStatus',
    message: '3',
  })
  expect((await js(kernel, 'process.exit()')).status).toBe('ok')
  expect(await value(kernel, 'kept')).toBe('1')
  const killed = await js(kernel, 'process.kill(process.pid, "SIGKILL"); await new Promise(() => {})')
  expect(killed.error).toMatchObject({ name: 'NodeEnded', message: expect.stringContaining('SIGKILL') })
  expect(await value(kernel, 'typeof kept')).toBe("'undefined'")
})

it('a JavaScript cell shares files and the folder with Python', async ({ kernel }) => {
  await kernel.run('import os, tempfile\nos.chdir(tempfile.mkdtemp())\nopen("f", "w").write("from python")')
  expect(await value(kernel, 'require("fs").readFileSync("f", "utf8")')).toBe("'from python'")
  await js(kernel, 'import { writeFileSync } from "fs"\nwriteFileSync("g", "from node")')
  expect(await kernel.value('open("g").read()')).toBe("'from node'")
})

it('a JavaScript cell reads nothing from stdin, and cannot write a frame', async ({ kernel }) => {
  const frame = '{"type":"done","cell":1,"status":"ok"}'
  const cell = await js(kernel, `const fs = require('fs'); fs.writeSync(1, '${frame}\\n'); fs.readFileSync(0, 'utf8')`)
  expect([cell.stdout, cell.value?.['text/plain']]).toEqual([`${frame}\n`, "''"])
  expect(kernel.badLines).toEqual([])
})

it('a JavaScript cell shows errors without the frames of what runs it, and fails for an uncaught one', async ({
  kernel,
}) => {
  const { stdout } = await js(kernel, 'try { null.x } catch (error) { console.log(error) }')
  expect(stdout).toMatch(/^TypeError: Cannot read properties of null \(reading 'x'\)\n {4}at Cell 1:1:\d+\n$/)
  const thrown = await js(kernel, 'await new Promise(() => setTimeout(() => { throw new RangeError("late") }, 5))')
  expect(thrown.error).toMatchObject({ name: 'RangeError', message: 'late' })
  const handled =
    'const failing = Promise.reject(new Error("looked at")); await new Promise((resolve) => setTimeout(resolve, 5))'
  expect(await value(kernel, `${handled}; await failing.catch((error) => error.message)`)).toBe("'looked at'")
})

it('a JavaScript cell leaves no timer behind', async ({ kernel }) => {
  const { notes } = await js(kernel, 'setInterval(() => console.log("tick"), 5); setTimeout(() => {}, 1e6)')
  expect(notes).toEqual(['2 timers of the cell ended with it: await what should happen'])
  const { stdout } = await js(kernel, 'await new Promise((resolve) => setTimeout(resolve, 50))')
  expect(stdout).toBe('')
})

it.for([
  'await new Promise(() => {})',
  'while (true);',
  'await 1; while (true);',
  'for (;;) await null',
  'await new Promise((resolve) => setTimeout(resolve, 1)); for (;;);',
  'setImmediate(() => { for (;;); }); await new Promise(() => {})',
  'for (let n = 0; n < 3; n++) setTimeout(() => { for (;;); }); await new Promise(() => {})',
  'process.nextTick(() => { for (;;); }); await new Promise(() => {})',
  'try { for (;;); } finally { for (;;); }',
  '/(a+)+b/.test("a".repeat(60))',
  'await github.create_issue({ title: "never" })',
  'Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)',
  'require("child_process").execSync("sleep 600")',
  'require("child_process").execSync(`trap "" INT; sleep 60`)',
])('a JavaScript cell is ended by an interrupt, and keeps its variables: %s', async (code, { kernel }) => {
  let isFirst = true
  const cell = await js(kernel, `globalThis.kept = 1; console.log("go");${code}`, {
    servers: GITHUB,
    onFrame: ({ type }) => {
      // A program that it starts must be running by then.
      const delayMs = code.includes('execSync') ? 500 : 60
      if (isFirst && type === 'output') setTimeout(() => kernel.sandbox.interrupt(), delayMs)
      if (type === 'output') isFirst = false
    },
  })
  expect(cell).toMatchObject({ status: 'interrupted', error: { name: 'KeyboardInterrupt' } })
  const isLost = cell.notes?.join().includes('variables of JavaScript cells are gone') ?? false
  expect(isLost).toBe(code.includes('trap'))
  expect(await value(kernel, 'typeof kept')).toBe(isLost ? "'undefined'" : "'number'")
  expect(await value(kernel, 'await new Promise((resolve) => setTimeout(() => resolve(5), 5))')).toBe('5')
})

it('a second interrupt while Node is stopped for the first lets the next JavaScript cell run', async ({ kernel }) => {
  const cell = await js(kernel, 'console.log("go"); for (;;);', {
    onFrame: ({ type }) => {
      if (type === 'output') for (const ms of [60, 120]) setTimeout(() => kernel.sandbox.interrupt(), ms)
    },
  })
  expect(cell).toMatchObject({ status: 'interrupted', stderr: '' })
  expect((await js(kernel, '5')).value).toMatchObject({ 'text/plain': '5' })
})

it('a JavaScript cell keeps its variables if the machine stands still while it is interrupted', async ({ kernel }) => {
  const python = (kernel.sandbox as StdioProcess).pid!
  const ready = path.join(newFolder(), 'ready')
  // The kernel interrupts it, then waits for Node, and stands still at once: this test would be late for that.
  const script = `trap 'kill -STOP ${python}; exit' INT; : > ${ready}; sleep 600; :`
  const running = js(kernel, `globalThis.kept = 1; require("child_process").execSync(${JSON.stringify(script)})`)
  await until(() => existsSync(ready))
  const node = descendants(python).find(({ parent }) => parent === python)!.pid
  process.kill(node, 'SIGSTOP')
  kernel.sandbox.interrupt()
  await until(() => / \(.*\) T /.test(readFileSync(`/proc/${python}/stat`, 'utf8')))
  await new Promise((resolve) => setTimeout(resolve, 1_300))
  for (const pid of [python, node]) process.kill(pid, 'SIGCONT')
  expect(await running).toMatchObject({ status: 'interrupted', error: { name: 'KeyboardInterrupt' } })
  expect(await value(kernel, 'kept')).toBe('1')
})
