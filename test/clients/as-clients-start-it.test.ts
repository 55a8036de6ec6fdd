// @module-tag whole: it starts npm, and bridges without a cache
// This file verifies the bridge as clients of each system start it: with few variables, from the desktop, in a project
// of somebody else, beside other clients that end suddenly.
import { spawn, spawnSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from '@modelcontextprotocol/client'
import { getDefaultEnvironment, StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { expect, it, onTestFinished, vi } from 'vitest'
import {
  BUILT_CLI,
  fixtureServer,
  makeHome,
  type ServerEntry,
} from '@sandbridge/core/test/support/bridges/bridge-process.ts'
import { onPath, skip } from '@sandbridge/core/test/support/suite/needs.ts'
import { startNpmRegistry } from '@sandbridge/core/test/support/servers/npm-registry.ts'
import { until } from '@sandbridge/core/test/support/machine/processes.ts'
import { isAlive, residentHome } from '@sandbridge/core/test/support/bridges/resident-clients.ts'
import { newFolder } from '@sandbridge/core/test/support/machine/new-folder.ts'

vi.setConfig({ testTimeout: 240_000 })

const IS_WINDOWS = process.platform === 'win32'
/** Of programs that launchd starts, and desktops of Linux. Nothing of the user's. */
const DESKTOP_PATH = '/usr/bin:/bin:/usr/sbin:/sbin'

/** The variables that MCP's own packages pass on, and no others: neither TMPDIR nor CI. */
function fewVariables(home: string): Record<string, string> {
  const local = path.join(home, 'AppData', 'Local')
  const own: Record<string, string> = IS_WINDOWS
    ? { USERPROFILE: home, LOCALAPPDATA: local, APPDATA: path.join(home, 'AppData', 'Roaming') }
    : { HOME: home, PATH: DESKTOP_PATH }
  return { ...getDefaultEnvironment(), ...own }
}

interface Started {
  run: (code: string) => Promise<string>
  client: Client
  pid: number
}

async function start(home: string, cwd: string, more: Record<string, string> = {}): Promise<Started> {
  mkdirSync(cwd, { recursive: true })
  const env = { ...fewVariables(home), ...more }
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [BUILT_CLI],
    env,
    cwd,
    stderr: 'ignore',
  })
  const client = new Client({ name: 'inspector-cli', version: '1' })
  await client.connect(transport)
  onTestFinished(async () => {
    await client.close()
    // The resident that it has started, where there are residents.
    spawnSync(process.execPath, [BUILT_CLI, 'stop'], { env, cwd })
  })
  const run = async (code: string): Promise<string> => {
    const { content } = await client.callTool(
      { name: 'run_python', arguments: { code, timeout: 100 } },
      { timeout: 200_000 },
    )
    return (content as { text?: string }[]).map(({ text = '' }) => text).join('\n')
  }
  return { client, run, pid: transport.pid! }
}

it('a bridge that a client of the desktop starts in any folder has cells, and servers behind npx in each spelling', async () => {
  if (!onPath('npx')) skip('npx is not installed')
  const registry = await startNpmRegistry()
  onTestFinished(() => registry.close())
  const forms: [string, ...string[]][] = [['npx']]
  if (IS_WINDOWS) forms.push(['cmd', '/c', 'npx'], ['cmd', '/C', 'NPX.CMD'])
  const servers = forms.map(([command, ...words], index): [string, ServerEntry] => {
    const env = { npm_config_registry: registry.url, npm_config_audit: 'false', npm_config_update_notifier: 'false' }
    return [`s${index}`, { command, args: [...words, '-y', `server-${index}`, 'good'], env }]
  })
  const home = makeHome(Object.fromEntries(servers))
  const { run } = await start(home, path.join(home, 'a folder, größer & more'))
  expect(await run('6 * 7')).toBe('42')
  for (const [name] of servers) expect(await run(`await mcp_${name}.echo(text="hi")`)).toBe("'hi'")
})

it('no program of a project is run before its user trusts it', async () => {
  const home = makeHome({ plain: { ...fixtureServer('raw.mjs', 'good'), command: 'node' } })
  const project = path.join(home, 'project')
  mkdirSync(project)
  const mark = path.join(project, 'was-run')
  const script = `require('node:fs').writeFileSync(${JSON.stringify(mark)}, process.argv.join())`
  for (const name of ['podman', 'docker', 'node', 'npx', 'bwrap', 'taskkill']) {
    if (!IS_WINDOWS) writeFileSync(path.join(project, name), `#!/bin/sh\necho run > '${mark}'\n`, { mode: 0o755 })
    else copyFileSync(process.execPath, path.join(project, `${name}.exe`))
  }
  // What a Node that is called podman.exe runs for `podman info`.
  for (const word of ['info', 'version', 'run', 'ps']) writeFileSync(path.join(project, word), script)
  if (IS_WINDOWS) writeFileSync(path.join(project, 'npx.cmd'), `@echo run > "${mark}"\r\n`)
  const ofNode = `${path.dirname(process.execPath)}${path.delimiter}`
  const { run, client } = await start(home, project, {
    PATH: ofNode + (IS_WINDOWS ? process.env['PATH'] : DESKTOP_PATH),
  })
  expect(await run('await mcp_plain.echo(text="hi")')).toBe("'hi'")
  await client.close()
  expect(existsSync(mark)).toBe(false)
  // The plants run where they are asked for.
  spawnSync(path.join(project, IS_WINDOWS ? 'podman.exe' : 'podman'), ['info'], { cwd: project })
  expect(existsSync(mark)).toBe(true)
})

it('a server gets the variables of a file that PowerShell has written', async () => {
  const home = makeHome({ s: { ...fixtureServer('whoami.mjs'), envFile: '${userHome}/keys.env' } as ServerEntry })
  const file = path.join(home, 'keys.env')
  if (IS_WINDOWS) spawnSync('powershell', ['-NoProfile', '-Command', `'WHO=größer' > '${file}'`])
  else writeFileSync(file, Buffer.from('\uFEFFWHO=größer\r\n', 'utf16le'))
  const { run } = await start(home, home)
  expect(await run('await mcp_s.who()')).toMatch(/who\W+größer/)
})

it('a state folder with a long path, on another disk where there is one, keeps what cells save', async () => {
  const isElsewhere = IS_WINDOWS && existsSync('D:\\')
  const root = isElsewhere ? mkdtempSync('D:\\sb-') : newFolder()
  // A resident that has begun to copy the program goes on for a while.
  if (isElsewhere) onTestFinished(() => rmSync(root, { recursive: true, force: true, maxRetries: 50 }))
  const state = path.join(root, ...Array.from({ length: 8 }, (_, at) => `${at}`.repeat(25)))
  const home = makeHome()
  const { run } = await start(home, home, { MCP_BRIDGE_STATE_DIR: state })
  expect(await run('runtime.save_memory("k", {"a": 1})\nruntime.load_memory("k")["a"]')).toBe('1')
})

it('nothing is left of a bridge whose client was killed, and nothing that ends with its input of one that was killed', async () => {
  for (const isOfClient of [true, false]) {
    const home = makeHome({ s: fixtureServer('whoami.mjs', ...(isOfClient ? ['stays'] : [])) })
    const env = { ...fewVariables(home), MCP_BRIDGE_RESIDENT: 'off' }
    // The client is a process between this one and the bridge.
    const source = `const { spawn } = require('node:child_process')
      const bridge = spawn(process.execPath, [${JSON.stringify(BUILT_CLI)}], { stdio: ['pipe', 'pipe', 'ignore'], windowsHide: true })
      process.stdin.pipe(bridge.stdin)
      bridge.stdout.pipe(process.stdout)
      process.stderr.write(String(bridge.pid))`
    const client = spawn(process.execPath, ['-e', source], { env, cwd: home })
    onTestFinished(() => void client.kill('SIGKILL'))
    let said = ''
    client.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()))
    const bridge = await new Promise<number>((resolve) =>
      client.stderr.once('data', (pid: Buffer) => resolve(Number(pid))),
    )
    const say = (message: object) => client.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
    const clientInfo = { name: 'x', version: '1' }
    say({ id: 1, method: 'initialize', params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo } })
    await until(() => said.includes('"id":1'))
    say({ method: 'notifications/initialized' })
    const run = (id: number, code: string) =>
      say({ id, method: 'tools/call', params: { name: 'run_python', arguments: { code, timeout: 100 } } })
    run(2, 'await mcp_s.who()')
    await until(() => /pid\W+\d+/.test(said))
    const server = Number(/pid\W+(\d+)/.exec(said)![1])
    expect(isAlive(server)).toBe(true)
    run(3, 'while True: pass')
    await sleep(1000)
    process.kill(isOfClient ? client.pid! : bridge, 'SIGKILL')
    await expect.poll(() => [bridge, server].map(isAlive), { timeout: 10_000 }).toEqual([false, false])
  }
})

it('clients share a resident where the machine got another name in between', async () => {
  const home = residentHome({})
  const ann = await home.connect('ann')
  const name = hostname()
  const rename = (to: string) => spawnSync('sudo', ['-n', 'scutil', '--set', 'HostName', to])
  // Only where no person works.
  if (process.platform === 'darwin' && process.env['CI']) {
    onTestFinished(() => void rename(name))
    expect(rename('sandbridge-renamed.local').status).toBe(0)
  }
  const bob = await home.connect('bob')
  expect(await Promise.all([ann.run('print(1)'), bob.run('print(2)')])).toEqual(['1', '2'])
  expect(home.residents()).toHaveLength(1)
})

it('init finds the file of Claude Desktop as a package, and registers a Node that outlives a shell of fnm', () => {
  if (!IS_WINDOWS) skip('only on Windows: packages of applications, and links of fnm for one shell')
  const home = makeHome()
  const env = fewVariables(home)
  const claude = path.join(env['LOCALAPPDATA']!, 'Packages/Claude_pzs8sxrjxfjjc/LocalCache/Roaming/Claude')
  mkdirSync(claude, { recursive: true })
  const shell = path.join(env['LOCALAPPDATA']!, 'fnm_multishells/1_2')
  mkdirSync(path.dirname(shell), { recursive: true })
  symlinkSync(path.dirname(process.execPath), shell, 'junction')
  const node = path.join(shell, path.basename(process.execPath))
  const { stdout } = spawnSync(node, [BUILT_CLI, 'init', '--dry-run', '--json'], { env, cwd: home, encoding: 'utf8' })
  expect(stdout).toContain(JSON.stringify(path.join(claude, 'claude_desktop_config.json')).slice(1, -1))
  expect(stdout).not.toContain('fnm_multishells')
})
