// @module-tag whole: a bridge for most tests
// This file verifies that files that a cell saves outlive its session, reach the client, and never leave their folder.
import { existsSync, readdirSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'
import { bridgeEnv } from '@sandbridge/core/test/support/bridges/bridge-process.ts'
import { runCommand } from '@sandbridge/core/test/support/machine/run-program.ts'
import { sharedBridge } from '@sandbridge/core/test/support/bridges/shared-bridge.ts'
import { startBridge } from '@sandbridge/core/test/support/bridges/start-bridge.ts'

const shared = sharedBridge()

const failure = async (code: string) => {
  const { text, isError } = await shared().call({ code })
  expect(isError).toBe(true)
  return text.trim().split('\n').at(-1)!
}

it('an artifact comes back unchanged, and is linked in the result of its cell', async () => {
  const { content } = await shared().call({ code: 'saved = runtime.save_artifact("sales.csv", "a,b\\n1,2\\n")' })
  expect(content).toContainEqual({
    type: 'resource_link',
    uri: 'sandbridge://artifact/sales.csv/1',
    name: 'sales.csv',
    mimeType: 'text/csv',
    size: 8,
    description: 'Saved by this cell, version 1',
  })
  expect(await shared().run('runtime.open_artifact("sales.csv").text()')).toBe("'a,b\\n1,2\\n'")
  expect((await shared().call({ code: '1' })).content).toHaveLength(1)
})

it.each([
  ['bytes', 'bytes(range(256))', 'bytes(range(256))'],
  ['text', '"naïve \\ud800"', '"naïve \\ud800".encode("utf-8", "surrogatepass")'],
  ['nothing', 'b""', 'b""'],
  [
    'a value',
    '{"rows": [1, 2.5, None, "é"]}',
    '__import__("json").dumps({"rows": [1, 2.5, None, "é"]}, ensure_ascii=False, indent=1).encode()',
  ],
  ['a file', '__import__("pathlib").Path("f")', 'b"in a file"'],
  ['the path of a file', '__import__("os").path.abspath("f")', 'b"in a file"'],
  ['a file in memory', '__import__("io").BytesIO(b"memory")', 'b"memory"'],
  ['more than one piece', 'b"0123456789abcdef" * 600_000', 'b"0123456789abcdef" * 600_000'],
])('an artifact can be %s', async (_, data, expected) => {
  await shared().run('open("f", "w").write("in a file")')
  expect(
    await shared().run(`runtime.save_artifact("x", ${data}); runtime.open_artifact("x").read() == ${expected}`),
  ).toBe('True')
})

it('an artifact has versions', async () => {
  await shared().run('for n in range(3): runtime.save_artifact("v.txt", f"{n}")')
  expect(
    await shared().run(
      '[runtime.open_artifact("v.txt", n).text() for n in (1, 2, 3)], runtime.open_artifact("v.txt").artifact.version',
    ),
  ).toBe("(['0', '1', '2'], 3)")
  expect(await failure('runtime.open_artifact("v.txt", 9)')).toMatch(/version 9 .*Its versions: 1, 2, 3/i)
})

it('an artifact is an MCP resource: listed, and read as text or as bytes', async () => {
  await shared().run('runtime.save_artifact("r.md", "# Hi"); runtime.save_artifact("r.bin", b"\\x00\\xff")')
  const { resources } = await shared().client.listResources()
  expect(resources).toContainEqual(
    expect.objectContaining({ uri: 'sandbridge://artifact/r.md', name: 'r.md', mimeType: 'text/markdown', size: 4 }),
  )
  const read = async (uri: string) => (await shared().client.readResource({ uri })).contents[0]
  expect(await read('sandbridge://artifact/r.md')).toMatchObject({ text: '# Hi', mimeType: 'text/markdown' })
  expect(await read('sandbridge://artifact/r.bin/1')).toMatchObject({ blob: 'AP8=' })
  await expect(read('sandbridge://artifact/none')).rejects.toThrow(/Unknown artifact 'none'/)
  await expect(read('sandbridge://artifact/r.md/7')).rejects.toThrow(/Unknown version 7/)
  await expect(read('sandbridge://artifact/..%2F..%2Fservers.json')).rejects.toThrow(/path separator/)
})

it.each([
  '../servers.json',
  '/etc/cron.d/x',
  '..',
  'a/../../b',
  'C:\\\\x',
  'nul',
  '.hidden',
  'a\\0b',
  'x\\n',
  '',
  '~/x/y',
])('an artifact cannot have the name %s', async (name) => {
  expect(await failure(`runtime.save_artifact("${name}", "x")`)).toMatch(
    /is not a valid name for an artifact: .*plain file name/,
  )
  expect(readdirSync(path.join(shared().home, 'MCPs')).toSorted()).toEqual(['.sandbridge', 'servers.json'])
  expect(existsSync(path.join(shared().home, 'MCPs/.sandbridge/servers.json'))).toBe(false)
})

it('a file in the current folder is saved by its name', async () => {
  const code = 'open("here.csv", "w").write("a,b"); runtime.save_artifact("h.csv", "here.csv")'
  expect(await shared().run(`${code}; runtime.open_artifact("h.csv").text()`)).toBe("'a,b'")
  expect(await shared().run('runtime.save_artifact("h.csv", "there.csv"); runtime.open_artifact("h.csv").text()')).toBe(
    "'there.csv'",
  )
})

it.each([
  ['a name of 5 kB', '"x" * 5_000, "d"', /too long \(5000/],
  ['a name that is no text', '5, "d"', /is a str, not int/],
  ['a value without a form', '"x", object()', /cannot be saved as it is/],
  ['a file that is not there', '"x", __import__("os").path.abspath("none.csv")', /cannot be read: No such file/],
  ['a folder', '"x", __import__("os").getcwd() + "/"', /cannot be read: Is a directory/],
  ['a folder by its name', '"x", __import__("os").makedirs("out", exist_ok=True) or "out"', /cannot be read: Is a dir/],
  ['41 MiB', '"x", bytes(41 << 20)', /40 MiB.*Save it in parts/],
])('an artifact is not kept: %s', async (_, args, expected) => {
  expect(await failure(`runtime.save_artifact(${args})`)).toMatch(expected)
})

it('pieces of an artifact are refused when they are not base64, or belong to no upload', async () => {
  const raw = 'from sandbridge_kernel.api import bridge as _b\n'
  expect(await failure(`${raw}_b.ask_sync("upload", data="!!!!")`)).toMatch(/must be base64/)
  expect(await failure(`${raw}_b.ask_sync("save_artifact", name="x", upload=77)`)).toMatch(/Unknown upload 77/)
})

it('an artifact is available in a later session, in another bridge, and in a terminal', async () => {
  const first = await startBridge()
  await first.run('runtime.save_artifact("kept.json", {"n": 1}); runtime.reset()')
  expect(await first.run('runtime.open_artifact("kept.json").text()')).toContain('"n": 1')
  const env = bridgeEnv(first.home)
  const sandbridge = (...args: string[]) => runCommand(args, env)
  const { stdout } = await sandbridge('exec', '-c', 'runtime.artifacts()')
  expect(stdout).toMatch(/^kept\.json, version 1, application\/json, \d+ bytes/)
  expect((await sandbridge('artifacts')).stdout).toMatch(/^kept\.json +version 1 /)
  expect((await sandbridge('artifacts', 'kept.json')).stdout).toBe('{\n "n": 1\n}')
  expect(JSON.parse((await sandbridge('artifacts', '--json')).stdout)).toMatchObject([{ name: 'kept.json' }])
  expect((await sandbridge('artifacts', '../x')).stderr).toMatch(/path separator/)
  const saved = await sandbridge('exec', '-c', 'runtime.save_artifact("my report.txt", "x")')
  expect(saved.stderr).toContain('Show it: sandbridge artifacts "my report.txt"')
  await sandbridge('artifacts', '--remove', 'my report.txt')
  expect((await sandbridge('artifacts', '--remove', 'kept.json')).stdout).toMatch(/Deleted/)
  expect(await sandbridge('artifacts')).toMatchObject({ stdout: '', stderr: expect.stringMatching(/No artifacts yet/) })
})
