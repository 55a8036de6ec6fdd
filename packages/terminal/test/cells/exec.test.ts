// This file verifies `sandbridge exec`, with which people try the bridge in a terminal.
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'
import { bridgeEnv, makeHome, published } from '@sandbridge/core/test/support/bridges/bridge-process.ts'
import { needsPosix } from '@sandbridge/core/test/support/suite/needs.ts'
import { runCommand } from '@sandbridge/core/test/support/machine/run-program.ts'

const home = makeHome({ everything: published.everything(), other: published.everything() })
const exec = (args: string[], input?: string | Uint8Array) =>
  runCommand(['exec', ...args], bridgeEnv(home), input === undefined ? {} : { input })

it('exec runs standard input, and prints what the cell prints, each on its own stream, then its value', async () => {
  const result = await exec(['-'], 'import sys\nprint("out")\nprint("err", file=sys.stderr)\n1 + 1')
  expect(result).toEqual({ code: 0, stdout: 'out\n2\n', stderr: 'err\n' })
})

it('exec limits servers, and prints JSON when asked', async () => {
  const { stdout } = await exec(['--json', '-s', 'other', '-c', 'print("x")\nlist(runtime.discovered_servers())'])
  expect(JSON.parse(stdout)).toEqual({ status: 'ok', stdout: 'x\n', value: "['other']" })
})

it('exec limits time, exits with 1 when the cell fails, and says why on stderr', async () => {
  const late = await exec(['-t', '0.5', '-c', 'print("begun")\nwhile True: pass'])
  expect(late).toMatchObject({ code: 1, stdout: 'begun\n' })
  expect(late.stderr).toMatch(/KeyboardInterrupt\n\[sandbridge: Timed out after 0.5 s. Pass a larger --timeout.\]\n$/)
  const failed = await exec(['-c', 'print("begun")\n1 / 0'])
  expect(failed).toMatchObject({ code: 1, stdout: 'begun\n' })
  expect(failed.stderr).toMatch(/^Traceback[^]*\nZeroDivisionError: division by zero\n$/)
})

it('a file gets its words as sys.argv, and its lines keep their numbers', async () => {
  const file = path.join(home, 'args.py')
  writeFileSync(file, '# first\nimport sys\nprint(sys.argv[1:])\n1 / 0')
  const given = await exec([file, 'a', '--flag', '-x', '5'])
  expect(given.stdout).toBe("['a', '--flag', '-x', '5']\n")
  expect(given.stderr).toMatch(/line 4\n/)
  const alone = path.join(home, 'alone.py')
  writeFileSync(alone, 'import sys\nprint(len(sys.argv), sys.argv[0].endswith("alone.py"), __file__ == sys.argv[0])')
  expect((await exec([alone])).stdout).toBe('1 True True\n')
  expect((await exec([file, '--', '--json', '-t'])).stdout).toBe("['--json', '-t']\n")
  const unknown = await exec(['--flag', file])
  expect(unknown).toMatchObject({ code: 2, stderr: expect.stringContaining("unknown option '--flag'") })
})

const EXITS = [
  { code: 'import sys; sys.exit(-1)', exit: 255, stderr: '' },
  { code: 'exit()', exit: 0, stderr: '' },
  { code: 'raise SystemExit("bad thing")', exit: 1, stderr: 'bad thing\n' },
]

it.each(EXITS)('an exit means what it means in a program: $code', async ({ code, exit, stderr }) => {
  expect(await exec(['-c', code])).toEqual({ code: exit, stdout: '', stderr })
})

it.each([
  [[], /a Python file, or -c CODE\n/],
  [['-c', '1', 'cell.py'], /a Python file, or -c CODE, not both/],
  [['no-such-file.py'], /no-such-file\.py' cannot be read: no such file/],
  [[home], /cannot be read: it is a folder/],
  [['-t', 'ten', '-c', '1'], /'timeout' must be a number of seconds, .* not the string "ten"/],
  [['-s', 'nope', '-c', '1'], /Server 'nope' is not available/],
])('exec says what is wrong with %j', async (args, expected) => {
  const { code, stderr, stdout } = await exec(args)
  expect(code).toBe(2)
  expect(stderr).toMatch(expected)
  expect(stdout).toBe('')
})

it('exec names the first byte that is not UTF-8, and runs nothing', { tags: ['whole'] }, async () => {
  const latin1 = Buffer.from('print("caf\u00e9")', 'latin1')
  const file = path.join(home, 'latin1.py')
  writeFileSync(file, latin1)
  for (const result of [await exec(['-'], latin1), await exec([file])]) {
    expect(result).toMatchObject({ code: 2, stdout: '' })
    expect(result.stderr).toMatch(/ is not UTF-8: see its byte 10/)
  }
  const cutOff = Buffer.from('# caf\u00e9').subarray(0, -1)
  expect((await exec(['-'], cutOff)).stderr).toContain('see its byte 5')
  expect((await exec(['-'], Buffer.from('print("caf\u00e9")'))).stdout).toBe('caf\u00e9\n')
})

it('exec runs a file, also with a byte order mark, as CPython does', async () => {
  const file = path.join(home, 'marked.py')
  for (const encoding of ['utf8', 'utf16le'] as const) {
    writeFileSync(file, '\uFEFFprint("marked")', encoding)
    expect(await exec([file])).toEqual({ code: 0, stdout: 'marked\n', stderr: '' })
  }
})

it.each([
  [['serach', 'x'], /^sandbridge: Unknown command 'serach'\nDid you mean `sandbridge search`\?/],
  [['bogus', '--json'], /^sandbridge: Unknown command 'bogus'\nSee `sandbridge --help`\.\n$/],
])('sandbridge reports an unknown command: %j', async (args, expected) => {
  const { code, stderr, stdout } = await runCommand(args, bridgeEnv(home))
  expect(stderr).toMatch(expected)
  expect([code, stdout]).toEqual([2, ''])
})

it('exec reports that a cell ended its Python itself', async () => {
  const { stdout, stderr, code } = await exec(['-c', 'import os\nos._exit(3)'])
  expect([code, stdout]).toEqual([1, ''])
  expect(stderr).toMatch(/(Python|its process) exited/)
  expect(stderr).not.toMatch(/137|next cell/)
})

it('exec refuses a cache folder in /proc, where Node would try for ever to make it', async () => {
  needsPosix('Windows has no /proc')
  const env = bridgeEnv(home, { MCP_BRIDGE_CACHE_DIR: '/proc/nope' })
  const { code, stderr } = await runCommand(['exec', '-c', '1'], env)
  expect(code).toBe(2)
  expect(stderr).toMatch(/MCP_BRIDGE_CACHE_DIR.*"\/proc\/nope".*outside of \/proc/)
})

it('exec remembers which sandbox auto took, and checks it', async () => {
  // Without a PATH, no engine answers.
  const env = bridgeEnv(home, { MCP_BRIDGE_RUNTIME: 'auto', MCP_BRIDGE_LOG_LEVEL: 'info', PATH: '' })
  const run = () => runCommand(['exec', '-c', '1 + 1'], env)
  const [first, second] = [await run(), await run()]
  expect([first.stdout, second.stdout]).toEqual(['2\n', '2\n'])
  expect(first.stderr).toContain('Sandbox provider selected')
  expect(second.stderr).toContain('Sandbox provider remembered')
})
