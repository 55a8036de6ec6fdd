// Shows which MCP servers care about the folder that they start in: starts each in an empty folder and in a project,
// and compares what they offer. With strace, also shows what they look at there.
// Usage: node scripts/test/try-folders.mjs SERVERS.json, a file with "mcpServers" as clients have it. Prints a table.
import { spawn, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { createInterface } from 'node:readline'

const WAIT_MS = 60_000
/** After its lists: servers ask for roots and look around a little later. */
const SETTLE_MS = 2_000
const LISTS = ['tools', 'prompts', 'resources']
const HAS_STRACE = spawnSync('strace', ['-V']).status === 0

const { mcpServers } = JSON.parse(readFileSync(process.argv[2], 'utf8'))
const place = mkdtempSync(path.join(tmpdir(), 'folders-'))
try {
  process.stdout.write('| Server | Offers differ | Asks for roots | Looks at |\n|---|---|---|---|\n')
  for (const [name, entry] of Object.entries(mcpServers)) {
    const [empty, project] = [await tryIn('empty', entry), await tryIn('project', entry)]
    const problem = empty.problem ?? project.problem
    const differing = Object.keys(empty.offers).filter((what) => empty.offers[what] !== project.offers[what])
    const looks = HAS_STRACE ? [...new Set([...empty.looks, ...project.looks])].slice(0, 5).join(', ') : 'no strace'
    const cells = problem ? [problem, '', ''] : [differing.join(', ') || 'no', project.asksRoots ? 'yes' : 'no', looks]
    process.stdout.write(`| ${[name, ...cells].join(' | ')} |\n`)
  }
} finally {
  rmSync(place, { recursive: true, force: true, maxRetries: 5 })
}

/** Folders of equal length, so that nothing but their names can differ in a text that names them. */
function folderOf(kind) {
  const folder = path.join(place, kind)
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder)
  if (kind === 'empty') return folder
  writeFileSync(path.join(folder, 'package.json'), '{"name":"project","version":"1.0.0"}')
  writeFileSync(path.join(folder, 'README.md'), '# A project\n')
  writeFileSync(path.join(folder, 'main.py'), 'print(1)\n')
  spawnSync('git', ['init', '-q', folder])
  return folder
}

async function tryIn(kind, { command, args = [], env = {} }) {
  const folder = folderOf(kind)
  const trace = path.join(place, 'trace')
  const words = HAS_STRACE
    ? ['strace', '-f', '-qq', '-e', 'trace=file', '-o', trace, command, ...args]
    : [command, ...args]
  const home = path.join(place, 'home')
  mkdirSync(home, { recursive: true })
  const child = spawn(words[0], words.slice(1), {
    cwd: folder,
    // Servers in Python may list sets, in another order at each start.
    env: { PATH: process.env.PATH, HOME: home, PYTHONHASHSEED: '0', ...env },
    stdio: ['pipe', 'pipe', 'ignore'],
    detached: true,
  })
  child.on('error', () => {})
  child.stdin.on('error', () => {})
  const found = { offers: {}, asksRoots: false, looks: [], problem: undefined }
  const waiting = new Map()
  const send = (message) => child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  createInterface({ input: child.stdout }).on('line', (line) => {
    let message
    try {
      message = JSON.parse(line)
    } catch {
      return
    }
    if (message.method === 'roots/list') {
      found.asksRoots = true
      send({ id: message.id, result: { roots: [{ uri: `file://${folder}`, name: kind }] } })
    } else if (message.method === undefined) waiting.get(message.id)?.(message.result)
    else if (message.id !== undefined) send({ id: message.id, error: { code: -32_601, message: 'not here' } })
  })
  const gone = new Promise((resolve) => child.once('close', () => resolve('ends at its start')))
  const late = new Promise((resolve) => setTimeout(resolve, WAIT_MS, 'does not answer').unref())
  let count = 0
  const ask = (method, params = {}) =>
    new Promise((resolve) => {
      waiting.set((count += 1), resolve)
      send({ id: count, method, params })
    })
  const talk = async () => {
    const capabilities = { roots: { listChanged: true }, sampling: {}, elicitation: {} }
    const clientInfo = { name: 'folders', version: '1' }
    const welcome = await ask('initialize', { protocolVersion: '2025-06-18', capabilities, clientInfo })
    found.offers.instructions = JSON.stringify(welcome?.instructions)
    send({ method: 'notifications/initialized' })
    for (const list of LISTS)
      if (welcome?.capabilities?.[list]) found.offers[list] = JSON.stringify(await ask(`${list}/list`))
    await new Promise((resolve) => setTimeout(resolve, SETTLE_MS))
  }
  found.problem = await Promise.race([talk(), gone, late])
  try {
    process.kill(-(child.pid ?? 0), 'SIGKILL')
  } catch {
    // It has ended.
  }
  await gone
  if (HAS_STRACE) found.looks = looksAt(readFileSync(trace, 'utf8'), folder)
  return found
}

/** What a program reads in its folder; that it asks where it is does not count. */
function looksAt(trace, folder) {
  const paths = [...trace.matchAll(/^\d+ +(\w+)\((?:AT_FDCWD, )?"([^"]*)"/gm)]
    .filter(([, call]) => !['execve', 'chdir', 'getcwd'].includes(call))
    .map(([, , file]) => path.resolve(folder, file))
    .filter((file) => file.startsWith(`${folder}/`) || file === `${folder}/.`)
  return [...new Set(paths.map((file) => path.relative(folder, file).split('/')[0]))]
}
