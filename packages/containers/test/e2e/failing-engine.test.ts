// This file verifies that `auto` does not insist on an engine whose `info` is fine and whose containers do not start.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'
import { bridgeEnv, CLI, makeHome } from '@sandbridge/core/test/support/bridges/bridge-process.ts'
import { runProgram } from '@sandbridge/core/test/support/machine/run-program.ts'
import { startBridge } from '@sandbridge/core/test/support/bridges/start-bridge.ts'
import { needsPosix } from '@sandbridge/core/test/support/suite/needs.ts'

const INFO = {
  host: { security: { rootless: true }, cgroupControllers: ['cpu', 'memory', 'pids'], cgroupVersion: 'v2' },
  version: { Version: '5.4.2' },
}

/** A home whose podman has an image and can run no container. It counts kernels to start, not those to compile. */
function failingPodman() {
  needsPosix('a stub of POSIX')
  const home = makeHome()
  const runs = path.join(home, 'runs')
  mkdirSync(path.join(home, 'bin'))
  const script = `#!/bin/sh
case "$1" in
  info) echo '${JSON.stringify(INFO)}' ;;
  image) echo '[{"Id": "sha256:1"}]' ;;
  run)
    case "$*" in *kernelBytes=*) echo run >> "${runs}" ;; esac
    echo 'Error: crun: the requested cgroup controller pids is not available' >&2; exit 126 ;;
esac
`
  writeFileSync(path.join(home, 'bin/podman'), script, { mode: 0o755 })
  const env = { PATH: `${home}/bin:${process.env['PATH']}`, MCP_BRIDGE_RUNTIME: 'auto' }
  return { home, env, runCount: () => (existsSync(runs) ? readFileSync(runs, 'utf8').split('\n').length - 1 : 0) }
}

it('a cell runs in the next sandbox, and one result says why, in a client’s first start alone', async () => {
  const { home, env, runCount } = failingPodman()
  const bridge = await startBridge({ home, env })
  const first = await bridge.run('1 + 1')
  expect(first).toMatch(/^2\n\[sandbridge: podman cannot start a container: Error: crun: .*delegate cgroup v2/)
  expect(first).toMatch(/Cells run in (bubblewrap|the embedded sandbox|docker) instead\. .*sandbridge doctor/)
  expect(await bridge.run('2 + 2')).toBe('4')
  const count = runCount()
  expect(count).toBeGreaterThan(0)
  const later = await startBridge({ home, env })
  expect(await later.run('3 + 3')).toBe('6')
  expect(runCount()).toBe(count)
})

it('doctor calls such an engine unusable, names the cause and runs a cell', async () => {
  const { home, env } = failingPodman()
  const { stdout } = await runProgram(process.execPath, [CLI, 'doctor'], bridgeEnv(home, env))
  expect(stdout).toMatch(/^– +podman +podman 5\.4\.2, rootless; but podman cannot start a container: .*cgroup/m)
  expect(stdout).toMatch(/^A cell runs/m)
})

it('a sandbox that was named fails with the cause, and without another sandbox', async () => {
  const { home, env } = failingPodman()
  const bridge = await startBridge({ home, env: { ...env, MCP_BRIDGE_RUNTIME: 'podman' } })
  const { text, isError } = await bridge.call({ code: '1 + 1' })
  expect(isError).toBe(true)
  expect(text).toMatch(/The sandbox did not start: podman cannot start a container: Error: crun/)
})
