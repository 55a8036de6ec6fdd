// Runs before all tests: makes what a bridge keeps for its next start on this machine, and every throwaway home begins
// with it, like a user's second start. Otherwise each of some thousand bridges would compile its code and probe this
// machine's Pythons again.
import { existsSync, rmSync, statSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { bridgeEnv, CLI, closeTestBridge, makeHome, openTestBridge, REAL_SANDBOX } from '../bridges/bridge-process.ts'
import { runProgram } from '../machine/run-program.ts'
import { keepWarmCaches, WARM_CACHES } from './warm-files.ts'

export default async function makeWarmCaches(): Promise<void> {
  // Tests of single files may run without a build.
  if (!existsSync(CLI)) return
  const isNewer = existsSync(WARM_CACHES) && statSync(WARM_CACHES).mtimeMs > statSync(CLI).mtimeMs
  if (isNewer) return
  rmSync(WARM_CACHES, { recursive: true, force: true })
  const home = makeHome()
  await runProgram(process.execPath, [CLI, 'exec', '-c', 'pass'], bridgeEnv(home))
  const isBubblewrap = REAL_SANDBOX.MCP_BRIDGE_RUNTIME === 'bubblewrap'
  const bridge = await openTestBridge({ home, ownProcess: true, ...(isBubblewrap && { env: REAL_SANDBOX }) })
  await bridge.client.listTools()
  await bridge.run('pass')
  // The kernel is compiled some time after the first cell.
  if (isBubblewrap) await untilThere(path.join(home, 'cache/kernels'))
  await bridge.client.close()
  keepWarmCaches(path.join(home, 'cache'))
  await closeTestBridge(bridge)
}

async function untilThere(file: string): Promise<void> {
  for (const end = Date.now() + 20_000; !existsSync(file) && Date.now() < end;) await sleep(50)
}
