// @module-tag whole: it starts each engine
// This file verifies what a user sees of container engines: why one was not used, and that nothing keeps running after
// the bridge has ended.
import { spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { once } from 'node:events'
import path from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { bridgeEnv, CLI, makeHome, published } from '@sandbridge/core/test/support/bridges/bridge-process.ts'
import { providerOrSkip, runtimeEnv } from '@sandbridge/core/test/support/sandboxes/engines.ts'
import { runningProcesses, until } from '@sandbridge/core/test/support/machine/processes.ts'
import { refusingBubblewrap } from '@sandbridge/core/test/support/sandboxes/refusing-bwrap.ts'
import { runProgram } from '@sandbridge/core/test/support/machine/run-program.ts'
import { startBridge } from '@sandbridge/core/test/support/bridges/start-bridge.ts'

function throwawayHome(): string {
  const home = makeHome()
  return home
}

interface DoctorReport {
  providers: { name: string; usable: boolean }[]
  used: { provider: string; passedOver: { name: string; verdict: string }[] }
  trial: { ok: boolean }
}

it('doctor says which sandbox was used, and why an engine that works was passed over', async () => {
  const env = bridgeEnv(throwawayHome(), { MCP_BRIDGE_RUNTIME: 'auto', MCP_BRIDGE_IMAGE: 'localhost/no-such:1' })
  const { stdout, stderr } = await runProgram(process.execPath, [CLI, 'doctor', '--json'], env)
  const { providers, used, trial } = JSON.parse(stdout || stderr) as DoctorReport
  expect(trial.ok).toBe(true)
  expect(['bubblewrap', 'pyodide']).toContain(used.provider)
  for (const { name, usable } of providers.slice(0, 2)) {
    const reason = used.passedOver.find((one) => one.name === name)?.verdict
    expect(reason).toMatch(usable ? /Image localhost\/no-such:1 was not found/ : /\w/)
  }
  const { stdout: text } = await runProgram(process.execPath, [CLI, 'doctor'], env)
  expect(text).toMatch(new RegExp(`Sandbox: ${used.provider}[.,]`))
  const skipped = used.passedOver.map(({ name }) => name).join(', ')
  expect(text).toContain(`  skipped: ${skipped}. The list above says why.\n`)
})

it('doctor says whether sandboxes are forked, and why not where they cannot be', async () => {
  await providerOrSkip('bubblewrap-fork')
  const home = throwawayHome()
  const env = bridgeEnv(home, { MCP_BRIDGE_RUNTIME: 'bubblewrap', MCP_BRIDGE_FORK_SERVER: 'auto' })
  expect((await runProgram(process.execPath, [CLI, 'doctor'], env)).stdout).toContain(
    'Sandbox: bubblewrap, forked from one process.',
  )
  const without = { ...env, MCP_BRIDGE_LOG_LEVEL: 'warning', PATH: `${refusingBubblewrap()}:${env['PATH']}` }
  const { stdout, stderr } = await runProgram(process.execPath, [CLI, 'doctor'], without)
  expect(stdout).toContain(
    'Sandbox: bubblewrap, each started with its own Python, because none could be forked: unshare: ',
  )
  expect(stderr).toContain('A sandbox was not forked')
})

it('a forged call to a server that the run does not allow reaches nothing', async () => {
  await providerOrSkip('bubblewrap')
  const file = path.join(throwawayHome(), 'memory.jsonl')
  const bridge = await startBridge({
    servers: { everything: published.everything(), memory: published.memory(file) },
    env: runtimeEnv('bubblewrap'),
  })
  const forge = (cell: number, seconds: number) => `
import asyncio, json, os, stat
entities = [{'name': 'forged', 'entityType': 'x', 'observations': []}]
params = {'server': 'memory', 'tool': 'create_entities', 'args': [], 'kwargs': {'entities': entities}}
frame = json.dumps({'type': 'call', 'id': 10**9 + ${cell}, 'cell': ${cell}, 'method': 'call_tool', 'params': params}) + '\\n'
for fd in range(3, 64):
    try:
        mode = os.fstat(fd).st_mode
        if stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode): os.write(fd, frame.encode())
    except OSError: pass
# The answer to an honest call comes after that one has been judged.
await runtime.call_tool('everything', 'echo', {'message': 'x'})
await asyncio.sleep(${seconds})`
  const outside = await bridge.call({ code: forge(1, 1), servers: ['everything'] })
  expect(outside.isError, outside.text).toBe(false)
  expect(existsSync(file)).toBe(false)
  // The control: where the run allows the server, the forged call gets through.
  const inside = await bridge.call({ code: forge(2, 3), servers: ['everything', 'memory'] })
  expect(readFileSync(file, 'utf8'), inside.text).toContain('forged')
})

describe.each(['podman', 'docker'] as const)('%s', (engine) => {
  it('a download that never ends stops with the bridge', async () => {
    await providerOrSkip(engine)
    const sockets = new Set<Socket>()
    const registry = createServer((socket) => void sockets.add(socket.on('error', () => {})))
    registry.listen(0, '127.0.0.1')
    await once(registry, 'listening')
    onTestFinished(() => {
      registry.close()
      for (const socket of sockets) socket.destroy()
    })
    const image = `localhost:${(registry.address() as AddressInfo).port}/python:3`
    const env = bridgeEnv(throwawayHome(), { MCP_BRIDGE_RUNTIME: engine, MCP_BRIDGE_IMAGE: image })
    const bridge = spawn(process.execPath, [CLI, 'exec', '-c', '1'], { env, stdio: 'ignore' })
    onTestFinished(() => void bridge.kill('SIGKILL'))
    await once(registry, 'connection')
    const isPulling = () => runningProcesses().some(({ command }) => command.includes(`pull ${image}`))
    expect(isPulling()).toBe(true)
    bridge.kill('SIGTERM')
    await once(bridge, 'exit')
    await until(() => !isPulling())
  })
})
