// This file verifies what is left around the embedded sandbox where bubblewrap cannot run, assuming that code runs with
// all of Node; and that Python runs in it.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, writeFile } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { childArguments, nodeFlags, planMemory, underMemoryCap } from '../../src/isolation/pyodide/command.ts'
import type { OuterLayer } from '../../src/isolation/pyodide/native-wall-part.ts'
import { findOuterLayer, weakerLayers } from '../../src/isolation/pyodide/outer-layer.ts'
import { prepareBundle } from '../../src/isolation/pyodide/provider.ts'
import { spawnSandbox } from '../../src/isolation/pyodide/spawn-sandbox.ts'
import { findPrograms } from '../../src/util/process/find-program.ts'
import { needsLinux, needsRoot, skip } from '../support/suite/needs.ts'
import { SANDBOX_CACHE } from '../support/sandboxes/sandbox-cache.ts'
import { sandboxVictim } from './victims.ts'
import { newFolder } from '../support/machine/new-folder.ts'

const REASON = 'bubblewrap is not installed'
const without = (...missing: string[]): typeof weakerLayers => {
  const programs = (name: string): string[] => (missing.includes(name) ? [] : findPrograms(name))
  return (node, bundle, reason) => weakerLayers(node, bundle, reason, programs)
}

/** What runs without any layer, for controls. */
const open = (bundle: string): OuterLayer => weakerLayers(process.execPath, bundle, REASON, () => []).at(-1)!

async function readableFolder(): Promise<string> {
  const folder = newFolder()
  await chmod(folder, 0o755)
  await writeFile(join(folder, 'child.cjs'), '')
  return folder
}

async function namespaces(bundle: string): Promise<OuterLayer> {
  needsLinux('namespaces are of Linux')
  const layer = await findOuterLayer(process.execPath, bundle, REASON)
  return layer.wall === 'namespaces' ? layer : skip(layer.verdict)
}

async function output(layer: OuterLayer, code: string): Promise<string> {
  const child = spawnSandbox(layer.wrap([layer.node, '-e', code]))
  let text = ''
  for await (const chunk of child.stdout) text += String(chunk)
  return text.trim()
}

it('namespaces by unshare have no network, and no process of this machine', async () => {
  const bundle = await readableFolder()
  const layer = await namespaces(bundle)
  const server = createServer((socket) => socket.end()).listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const connecting = `require('net').connect(${port}, '127.0.0.1').on('connect', () => console.log('ESCAPED')).on('error', (e) => console.log(e.code))`
  expect(await output(layer, connecting)).toBe('ENETUNREACH')
  expect(await output(open(bundle), connecting)).toBe('ESCAPED')

  const victim = spawn('sleep', ['60'])
  const ended = once(victim, 'exit')
  const killing = `try { process.kill(${victim.pid}, 'SIGKILL'); console.log('ESCAPED') } catch (e) { console.log(e.code) }`
  expect(await output(layer, killing)).toBe('ESRCH')
  expect(await output(open(bundle), killing)).toBe('ESCAPED')
  await ended
})

it.each([[], ['unshare'], ['unshare', 'setpriv']])(
  'without bubblewrap, %s and %s, root becomes another user',
  async (...missing) => {
    needsRoot('other users have no rights to drop')
    const bundle = await readableFolder()
    await writeFile(join(bundle, 'key'), 'ESCAPED', { mode: 0o600 })
    const layer = await findOuterLayer(process.execPath, bundle, REASON, without(...missing))
    expect(layer.wall).toBe(missing.length === 0 ? 'namespaces' : 'none')
    const reading = `try { console.log(require('fs').readFileSync('${bundle}/key', 'utf8')) } catch (e) { console.log(process.getuid(), process.getgroups(), e.code) }`
    expect(await output(layer, reading)).toBe('65534 [ 65534 ] EACCES')
    expect(await output(open(bundle), reading)).toBe('ESCAPED')
  },
)

it('Python runs, is limited and ends in namespaces by unshare', async () => {
  needsLinux('namespaces are of Linux')
  const bundle = await prepareBundle({ cacheFolder: SANDBOX_CACHE })
  const layer = await namespaces(bundle)
  const memory = planMemory(384 << 20)
  const start = () => {
    const inside = [layer.node, ...nodeFlags(layer.bundle, memory), ...childArguments(layer.bundle, 'serve', memory)]
    const wrapped = layer.wrap(inside)
    return sandboxVictim(spawnSandbox({ ...wrapped, command: underMemoryCap(wrapped.command, memory) }))
  }
  const victim = start()
  expect(await victim.run('print(6 * 7)')).toBe('42\n')
  expect(await victim.run("try: bytearray(1 << 30)\nexcept MemoryError: print('limited')")).toBe('limited\n')
  expect(await victim.run('import os\nos._exit(3)')).toContain('the sandbox ended: exited')
  await victim.close()
  const second = start()
  await second.close()
})
