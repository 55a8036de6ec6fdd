// @module-tag whole: it starts embedded sandboxes; javascript.test.ts asks the same of Node
// This file verifies JavaScript cells of the embedded sandbox over bare frames: QuickJS instead of Node.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { languageFiles } from '../../src/language-files.ts'
import { makeProvider } from '@sandbridge/core/test/support/sandboxes/engines.ts'
import { Driver, GITHUB, type RunOptions } from '@sandbridge/core/test/kernel/drive.ts'

let kernel: Driver
/** How often the program was requested. */
let fetched = 0
let files: Record<string, string>

beforeAll(async () => {
  const provider = makeProvider('pyodide')
  files = await languageFiles('javascript', 'embedded')
  await provider.prepare()
  kernel = new Driver(await provider.start({ memoryBytes: 512 << 20 }))
  await kernel.ready()
}, 300_000)
afterAll(() => kernel.sandbox.dispose())

const js = (code: string, options: RunOptions = {}) =>
  kernel.run(code, {
    language: 'javascript',
    ...options,
    onCall: (call) => {
      if (call.method !== 'language_files') return options.onCall?.(call)
      fetched += 1
      expect(call.params).toEqual({ language: 'javascript', embedded: true })
      return { value: files }
    },
  })

const value = async (code: string, options?: RunOptions) => {
  const { status, value: shown, error } = await js(code, options)
  expect([status, error]).toEqual(['ok', undefined])
  return shown?.['text/plain']
}

const SLEEP = 'await new Promise((resolve) => setTimeout(resolve, 5))'

it('a JavaScript cell in the embedded sandbox loads QuickJS at the first such cell, once', async () => {
  await kernel.value('1')
  expect(fetched).toBe(0)
  const cell = await js('const kept: number = 1; console.log("out", { a: [kept] }); console.error("err"); ({ b: "x" })')
  expect(cell).toMatchObject({ stdout: 'out { a: [ 1 ] }\n', stderr: 'err\n', value: { 'text/plain': "{ b: 'x' }" } })
  expect(await value('kept + 1')).toBe('2')
  expect(fetched).toBe(1)
})

it('a JavaScript cell in the embedded sandbox keeps what it declares, and may declare it again', async () => {
  await js(`import fs, { readFileSync as read } from 'node:fs'
const a = 1, { b, c: [d] } = { b: 2, c: [3] }
var f = () => g() + a
function g() { return 10 }
class H { static x = 4 }
enum Kind { Bug = 'bug' }
for (var j = 0; j < 3; j++);
async function m() { return a }`)
  expect(await value('[a, b, d, f(), H.x, j, await m(), Kind.Bug, typeof read].join()')).toBe(
    "'1,2,3,11,4,3,1,bug,function'",
  )
  expect(await value('const a = 2; function g() { return 20 }\nf()')).toBe('22')
})

it('a JavaScript cell in the embedded sandbox shows values as Node does', async () => {
  const shown = await value(
    `[undefined, null, -0, 10n, "it's", [1, , 3], { 'a b': { c: { d: {} } }, e() {}, get f() { return 1 } }, new Map([['k', new Set([1])]]), new Date(0), /x/g, class Q {}, Symbol('s'), Buffer.from('hé'), new Uint8Array(2), Object.create(null)]`,
  )
  // The output of Node's util.inspect, except for line breaks.
  expect(String(shown).replaceAll(/\s+/g, ' ')).toBe(
    `[ undefined, null, -0, 10n, "it's", [ 1, <1 empty item>, 3 ], { 'a b': { c: { d: {} } }, e: [Function: e], f: [Getter] }, Map(1) { 'k' => Set(1) { 1 } }, 1970-01-01T00:00:00.000Z, /x/g, [class Q], Symbol(s), <Buffer 68 c3 a9>, Uint8Array(2) [ 0, 0 ], [Object: null prototype] {} ]`,
  )
  const { stdout } = await js(
    'const self = { n: 1 }; self.self = self; console.log(self, "%", 5); console.log("%s is %d", "x", 4)',
  )
  expect(stdout).toBe('{ n: 1, self: [Circular *1] } % 5\nx is 4\n')
})

it('a JavaScript cell in the embedded sandbox shares files, the folder and errors of files with Python', async () => {
  await kernel.run(
    'import os, pathlib\nos.makedirs("/tmp/shared/in", exist_ok=True)\nos.chdir("/tmp/shared")\nopen("f", "wb").write(b"from \\xc3\\xa9 python")',
  )
  const code = `const fs = require('fs'), { writeFile, mkdir, readdir, rm } = await import('node:fs/promises')
await writeFile('g', Buffer.from([0, 255])); await writeFile('h', 'é'); fs.appendFileSync('h', '!')
await mkdir('a/b', { recursive: true }); await writeFile('in/x', ''); await rm('in', { recursive: true })
;[process.cwd(), fs.readFileSync('f', 'utf8'), (await readdir('.')).join(), fs.statSync('h').size, fs.existsSync('in')]`
  expect(await value(code)).toBe("[ '/tmp/shared', 'from é python', 'a,f,g,h', 3, false ]")
  expect(await kernel.value('[open("g", "rb").read(), open("h").read(), os.path.isdir("a/b")]')).toBe(
    "[b'\\x00\\xff', 'é!', True]",
  )
  expect(
    await value('await require("fs/promises").readFile("gone").catch(({ code, message }) => [code, message])'),
  ).toBe(`[ 'ENOENT', "ENOENT: no such file or directory, open 'gone'" ]`)
  await kernel.run('os.chdir("/workspace")')
})

it('a JavaScript cell in the embedded sandbox has Buffer, paths, text encodings and copies of values as Node has them', async () => {
  const code = `const path = require('path'), bytes = Buffer.from('deadbeef', 'hex')
const one = { when: new Date(0), some: new Map([['k', new Set([1])]]), raw: new Uint8Array([1, 2]) }; one.self = one
const copy = structuredClone(one)
;[bytes.readUInt32BE(0).toString(16), Buffer.from('hé').toString('base64'), Buffer.isBuffer(bytes.subarray(1)),
 path.relative('/a/b/c', '/a/d'), path.parse('/x/y.tar.gz').name, path.resolve('/a', '../b'),
 new TextDecoder().decode(new TextEncoder().encode('\ufeffé😀')), new TextDecoder().decode(new Uint8Array([0x68, 0xff])),
 copy !== one && copy.self === copy, copy.when, copy.some, copy.raw]`
  expect(String(await value(code)).replaceAll(/\s+/g, ' ')).toBe(
    "[ 'deadbeef', 'aMOp', true, '../../d', 'y.tar', '/b', 'é😀', 'h�', true, 1970-01-01T00:00:00.000Z, " +
      "Map(1) { 'k' => Set(1) { 1 } }, Uint8Array(2) [ 1, 2 ] ]",
  )
  expect((await js('structuredClone(() => 1)')).error).toMatchObject({ name: 'TypeError' })
})

it('a JavaScript cell in the embedded sandbox names its own lines in errors, and says what to do without Node', async () => {
  await js('// a comment\nfunction fails() {\n  throw new TypeError("no")\n}')
  expect((await js('const x = 1\n\nawait fails()')).error?.traceback).toMatch(
    /^Cell \d+, line 3\n {4}throw new TypeError\("no"\)\nTypeError: no\n {4}at Cell \d+, line 3\n$/,
  )
  expect((await js('let ok = 1\nlet = = 2')).error).toMatchObject({ name: 'SyntaxError' })
  for (const code of ['require("child_process")', 'import x from "left-pad"', 'await import("node:http")'])
    expect((await js(code)).error, code).toMatchObject({
      message: expect.stringMatching(/^Cannot find module '/),
      hint: expect.stringMatching(/it has fs, path, .*MCP_BRIDGE_RUNTIME=podman/),
    })
  expect((await js('await fetch("http://x")')).error?.hint).toContain('The sandbox has no network')
  expect((await js('new URL("http://x")')).error?.hint).toContain('has no URL')
  expect((await js('Promise.reject(new Error("nobody looks")); 1')).error?.message).toBe('nobody looks')
  expect(
    await value(`const p = Promise.reject(new Error("seen")); ${SLEEP}; await p.catch(({ message }) => message)`),
  ).toBe("'seen'")
  expect((await js('globalThis.exited = 1; process.exit(3)')).error).toMatchObject({
    name: 'ExitStatus',
    message: '3',
  })
  expect(await value('exited')).toBe('1')
})

it('a JavaScript cell in the embedded sandbox calls tools, and is checked before anything runs', async () => {
  const calls: unknown[] = []
  const options: RunOptions = {
    servers: GITHUB,
    onCall: ({ params }) => {
      calls.push(params)
      return { value: { content: [], structuredContent: { number: 12 } } }
    },
  }
  const code = `const all = await Promise.all([github.createIssue({ title: 'a' }), mcp_servers.github.create_issue('t'), tools.call('github', 'create_issue')])
all.map(({ number }) => number)`
  expect(await value(code, options)).toBe('[ 12, 12, 12 ]')
  expect(calls[0]).toEqual({ server: 'github', tool: 'createIssue', args: [], kwargs: { title: 'a' } })
  const image = { content: [{ type: 'image', data: 'AAECAw==', mimeType: 'image/png' }] }
  const cell = await js('await github.picture()', { servers: GITHUB, onCall: () => ({ value: image }) })
  expect(cell.value).toEqual({ 'text/plain': '<image/png, 4 bytes>', 'image/png': 'AAECAw==' })
  const refused = await js('console.log("ran"); await github.nothing()', {
    servers: GITHUB,
    onCheck: () => ({ value: [{ call: 0, code: 'TOOL_NOT_FOUND', message: 'There is no nothing' }] }),
  })
  expect([refused.stdout, refused.error?.message]).toEqual(['', expect.stringContaining('There is no nothing')])
})

it('a JavaScript cell in the embedded sandbox prints while it runs, without giving the thread back', async () => {
  let printedAt = 0
  const { stdout } = await js(
    'console.log("first"); const end = Date.now() + 600; while (Date.now() < end); console.log("last")',
    { onFrame: ({ type }) => void (type === 'output' && (printedAt ||= Date.now())) },
  )
  expect(Date.now() - printedAt).toBeGreaterThan(400)
  expect(stdout).toBe('first\nlast\n')
  expect((await js('for (let n = 0; n < 50000; n++) console.log(n)')).stdout.length).toBe(288_890)
  expect(kernel.badLines).toEqual([])
})

it('a JavaScript cell in the embedded sandbox waits for its timers, and leaves none behind', async () => {
  const { stdout } = await js(
    `setTimeout(() => console.log('late'), 30); setTimeout(() => console.log('soon'), 5)
await new Promise((resolve) => { let n = 0; const id = setInterval(() => { if ((n += 1) === 3) { clearInterval(id); resolve() } }, 5) })
await new Promise((resolve) => setTimeout(resolve, 60))`,
  )
  expect(stdout).toBe('soon\nlate\n')
  const { notes } = await js('setInterval(() => console.log("tick"), 5); setTimeout(() => {}, 1e6)')
  expect(notes).toEqual(['2 timers of the cell ended with it: await what should happen'])
  expect((await js('await new Promise((resolve) => setTimeout(resolve, 50))')).stdout).toBe('')
  const thrown = await js('await new Promise(() => setTimeout(() => { throw new RangeError("late") }, 5))')
  expect(thrown.error).toMatchObject({ name: 'RangeError', message: 'late' })
})

it.for([
  ['await new Promise(() => {})', false],
  ['while (true);', false],
  ['for (;;) await null', false],
  [`${SLEEP}; for (;;);`, false],
  ['try { for (;;); } catch { for (;;); } finally { for (;;); }', false],
  ['/(a+)+b/.test("a".repeat(60))', false],
  ['await github.create_issue({ title: "never" })', false],
  [
    'queueMicrotask(function again() { for (let n = 0; n < 9; n++) queueMicrotask(again) }); await new Promise(() => {})',
    true,
  ],
] as const)(
  'a JavaScript cell in the embedded sandbox is ended by an interrupt, and keeps what it had: %s',
  async ([code, isLost]) => {
    let isFirst = true
    const cell = await js(`globalThis.kept = 7; console.log("go"); ${code}`, {
      servers: GITHUB,
      onFrame: ({ type }) => {
        if (isFirst && type === 'output') setTimeout(() => kernel.sandbox.interrupt(), 60)
        if (type === 'output') isFirst = false
      },
    })
    expect(cell).toMatchObject({ status: 'interrupted', error: { name: 'KeyboardInterrupt' } })
    // Code that restarts itself endlessly loses the variables, and a note says so.
    expect(cell.notes?.join().includes('QuickJS did not stop when interrupted') ?? false).toBe(isLost)
    expect(await value('typeof kept')).toBe(isLost ? "'undefined'" : "'number'")
    expect(await value(`${SLEEP}; 5`)).toBe('5')
    expect(await kernel.value('1 + 1')).toBe('2')
  },
)

it('a JavaScript cell in the embedded sandbox has its memory in common with Python, and survives when that is used up', async () => {
  await js('globalThis.kept = 1')
  for (const greedy of [
    'const all = []; for (;;) all.push(new Uint8Array(1 << 20).fill(1))',
    '"x".repeat(2 ** 29) + "y".repeat(2 ** 29)',
    'const list = []; for (;;) list.push({})',
  ])
    expect((await js(`(() => { ${greedy} })()`)).error?.message, greedy).toMatch(/out of memory|too long/)
  expect((await js('(function deep() { deep() })()')).error?.name).toBe('RangeError')
  expect(await value('kept')).toBe('1')
  expect((await kernel.run('bytearray(200 << 20)')).error?.name, 'QuickJS has taken its part').toBe('MemoryError')
  expect(await kernel.value('len(bytearray(20 << 20))')).toBe('20971520')
})

it('a cell that keeps large results ends when the memory is used up, and does not wait for the lost one', async () => {
  const rows = Array.from({ length: 50_000 }, (_, id) => ({ id, name: `row ${id}`, value: id / 7 }))
  const { error } = await js('const kept = []; for (;;) kept.push(await github.list_issues())', {
    servers: GITHUB,
    onCall: () => ({ value: rows }),
  })
  expect(error?.message).toMatch(/out of memory/)
  expect(await kernel.value('1 + 1')).toBe('2')
  expect(await value('2 + 3')).toBe('5')
})
