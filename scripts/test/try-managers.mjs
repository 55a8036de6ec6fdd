// Installs this checkout with each package manager and under each version manager of Node, as users do, and tries what
// follows: init, the start of what init wrote, an update, another Node, and uninstalling.
// Usage, after a build: node scripts/test/try-managers.mjs [NAME…]. Prints a table. Exit code 1: something does not
// work.
//
// npm, npx, pnpm, Yarn, Bun and mise are the real ones, from the registry of packages. nvm, fnm, Volta and asdf are not
// there: for them, folders and links are made as they make them, around real versions of Node.
import { spawn, spawnSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { createInterface } from 'node:readline'

const root = path.resolve(import.meta.dirname, '../..')
const NEXT = '99.0.0'
/** Two versions of Node, the older one first, of one major: mise keeps a link for each major, which init writes. */
const NODES = ['22.13.0', '22.14.0']
const STEPS = ['install', 'init', 'start', 'update', 'new Node', 'uninstall']
const STEP_MS = 300_000
const work = realpathSync(mkdtempSync(path.join(tmpdir(), 'managers-')))
/** Of the row that is tried. */
let home = work
const ok = 'yes'
const none = '–'

const [userconfig, cache] = ['userconfig', 'cache'].map((name) => run('npm', ['config', 'get', name]).stdout.trim())
const pack = (folder) => {
  const { stdout } = must('npm', ['pack', '--silent', '--ignore-scripts', '--pack-destination', work], { cwd: folder })
  return path.join(work, stdout.trim().split('\n').at(-1))
}
const tarball = pack(root)
const { version } = readJson(path.join(root, 'package.json'))
must('tar', ['xzf', tarball, '-C', work])
const manifest = path.join(work, 'package/package.json')
writeFileSync(manifest, JSON.stringify({ ...readJson(manifest), version: NEXT, scripts: {} }))
const next = pack(path.join(work, 'package'))

const tools = path.join(work, 'tools')
/** A program of the registry. */
function tool(name, spec = name, bin = name) {
  const folder = path.join(tools, spec.replaceAll(/\W/g, '_'))
  must('npm', ['install', '--silent', '--no-audit', '--no-fund', '--prefix', folder, spec], { cwd: work })
  return path.join(folder, 'node_modules/.bin', bin)
}
const nodeFolder = (wanted) =>
  path.dirname(path.dirname(realpathSync(tool('node', `node-linux-${process.arch}@${wanted}`, 'node'))))

/** A global installation. @param args the words before the package, and to take it out */
function globally(program, [add, remove], env = {}) {
  return {
    env,
    install: (file) => must(program, [...add, file], { env }),
    own: (words) => must('sandbridge', words, { env }),
    remove: () => must(program, [...remove, 'sandbridge'], { env }),
  }
}
/** What runs a package without installing it; its entry stays with the file that it was run from. */
function runner(program, words, more = {}) {
  const env = { PATH: `${path.dirname(program)}:${process.env.PATH}`, ...more }
  return { env, own: (rest) => must(program, [...words, ...rest], { env }) }
}

/** @param make puts a Node into its folder and makes it the one in use. @returns the folders of the PATH */
function versions(make) {
  const env = {}
  const use = (wanted) => {
    env.PATH = [...make(wanted, nodeFolder(wanted)), '/usr/bin', '/bin'].join(':')
    // A shim is not the program that it starts.
    env.npm_config_prefix = path.resolve(must('node', ['-p', 'process.execPath'], { env }).stdout.trim(), '../../..')
  }
  use(NODES[0])
  const made = globally(
    'npm',
    [
      ['install', '-g', '--silent'],
      ['uninstall', '-g', '--silent'],
    ],
    env,
  )
  const anew = () => {
    const before = env.npm_config_prefix
    use(NODES[1])
    made.install(next)
    rmSync(before, { recursive: true })
  }
  return { ...made, anew }
}
const find = (name, search) =>
  search
    .split(':')
    .map((one) => path.join(one, name))
    .find((one) => existsSync(one))
/** Copied, with its npm: managers remove the folder of a version. */
function put(from, to) {
  mkdirSync(path.dirname(to), { recursive: true })
  must('cp', ['-r', from, to])
  must('cp', ['-rL', path.join(path.dirname(realpathSync(find('npm', process.env.PATH))), '..'), `${to}/lib-npm`])
  symlinkSync('../lib-npm/bin/npm-cli.js', path.join(to, 'bin/npm'))
}
function link(to, from) {
  mkdirSync(path.dirname(from), { recursive: true })
  rmSync(from, { force: true })
  symlinkSync(to, from)
}
/** A shim starts what its manager has chosen, with the programs of that version beside it on the PATH. */
function shims(folder, chosen) {
  mkdirSync(folder, { recursive: true })
  for (const name of ['node', 'npm', 'npx', 'sandbridge'])
    writeFileSync(
      path.join(folder, name),
      `#!/bin/sh\nPATH=${chosen}/bin:$PATH\nexport PATH\nexec ${chosen}/bin/${name} "$@"\n`,
      { mode: 0o755 },
    )
  return [folder]
}

const MANAGERS = {
  npm: () =>
    globally(
      'npm',
      [
        ['install', '-g', '--silent'],
        ['uninstall', '-g', '--silent'],
      ],
      prefixed(),
    ),
  npx: () => runner('npx', ['-y', '-p', tarball, 'sandbridge']),
  pnpm: () =>
    globally(
      tool('pnpm'),
      [
        ['add', '-g'],
        ['remove', '-g'],
      ],
      withBin('pnpm', 'PNPM_HOME'),
    ),
  'pnpm dlx': () => runner(tool('pnpm'), ['dlx', tarball]),
  'yarn 1': () => {
    const env = { ...withBin('yarn'), PREFIX: path.join(home, 'yarn') }
    const words = (verb) => ['--silent', 'global', verb, '--prefix', env.PREFIX]
    return globally(tool('yarn', 'yarn@1'), [words('add'), words('remove')], env)
  },
  'yarn 4 dlx': () =>
    runner(
      tool('yarn4', '@yarnpkg/cli-dist@4', 'yarn'),
      ['dlx', '-q', '-p', `sandbridge@file:${tarball}`, 'sandbridge'],
      {
        YARN_ENABLE_TELEMETRY: '0',
      },
    ),
  bun: () =>
    globally(
      tool('bun'),
      [
        ['add', '-g'],
        ['remove', '-g'],
      ],
      withBin('.bun', 'BUN_INSTALL'),
    ),
  bunx: () => runner(tool('bun'), ['x', '--package', tarball, 'sandbridge'], { TMPDIR: home }),
  mise: () => {
    const [mise, data] = [tool('mise', '@jdxcode/mise', 'mise'), path.join(home, '.local/share/mise')]
    const made = versions((wanted, from) => {
      const folder = path.join(data, 'installs/node', wanted)
      put(from, folder)
      const env = { PATH: `${data}/shims:/usr/bin:/bin` }
      must(mise, ['use', '-g', `node@${wanted}`], { env })
      must(mise, ['reshim'], { env })
      return [path.join(data, 'shims'), path.dirname(mise)]
    })
    const install = (file) => {
      made.install(file)
      must(mise, ['reshim'], made)
    }
    return { ...made, install }
  },
  nvm: () =>
    versions((wanted, from) => {
      const folder = path.join(home, '.nvm/versions/node', `v${wanted}`)
      put(from, folder)
      link(folder, path.join(home, '.nvm/current'))
      return [`${folder}/bin`, path.join(home, '.nvm/current/bin')]
    }),
  fnm: () =>
    versions((wanted, from) => {
      const [data, shell] = ['.local/share/fnm', '.local/state/fnm_multishells/1_2'].map((one) => path.join(home, one))
      put(from, `${data}/node-versions/v${wanted}/installation`)
      for (const one of [`${data}/aliases/default`, shell]) link(`${data}/node-versions/v${wanted}/installation`, one)
      return [`${shell}/bin`]
    }),
  volta: () =>
    versions((wanted, from) => {
      const folder = path.join(home, '.volta/tools/image/node', wanted)
      put(from, folder)
      return shims(path.join(home, '.volta/bin'), folder)
    }),
  asdf: () =>
    versions((wanted, from) => {
      const folder = path.join(home, '.asdf/installs/nodejs', wanted)
      put(from, folder)
      return shims(path.join(home, '.asdf/shims'), folder)
    }),
}
const prefixed = () => ({ npm_config_prefix: path.join(home, 'npm'), PATH: `${home}/npm/bin:${process.env.PATH}` })
/** @param name of the variable that says where a manager puts its own */
function withBin(folder, name) {
  const own = path.join(home, folder)
  mkdirSync(path.join(own, 'bin'), { recursive: true })
  return { PATH: `${own}/bin:${own}:${process.env.PATH}`, ...(name && { [name]: own }) }
}

let failed = false
const wanted = process.argv.slice(2)
try {
  print(`| | ${STEPS.join(' | ')} |\n|---|${STEPS.map(() => '---|').join('')}\n`)
  for (const [name, make] of Object.entries(MANAGERS))
    if (wanted.length === 0 || wanted.includes(name)) print(`| ${[name, ...(await row(name, make))].join(' | ')} |\n`)
} finally {
  rmSync(work, { recursive: true, force: true, maxRetries: 5 })
}
process.exitCode = failed ? 1 : 0

async function row(name, make) {
  home = path.join(work, name.replaceAll(' ', '-'))
  const file = path.join(home, '.cursor/mcp.json')
  mkdirSync(path.dirname(file), { recursive: true })
  writeFileSync(file, '{"mcpServers":{}}')
  const entry = () => readJson(file).mcpServers.sandbridge
  let manager
  const answers = async (expected) => {
    const got = await start(entry())
    if (got !== `${expected} 42`) throw new Error(`the entry ${JSON.stringify(entry())} starts ${got}`)
  }
  const steps = [
    () => ((manager = make()), manager.install?.(tarball)),
    () => manager.own(['init', '--yes', '--client', 'cursor']),
    () => answers(version),
    () => (manager.install ? (manager.install(next), answers(NEXT)) : none),
    () => (manager.anew ? (manager.anew(), answers(NEXT)) : none),
    () => {
      manager.own(['uninstall', '--yes'])
      manager.remove?.()
      if (entry()) throw new Error('the entry is still there')
    },
  ]
  const cells = []
  for (const step of steps) {
    const cell = await Promise.resolve()
      .then(step)
      .then((said) => (said === none ? none : ok))
      .catch(({ message }) => message.trim().replaceAll(/\s+/g, ' ').replaceAll('|', '/').slice(-400))
    failed ||= ![ok, none].includes(cell)
    cells.push(cell)
  }
  return cells
}

/** As a client of the desktop. @returns the version that answers, and what a cell prints */
function start({ command, args = [] }) {
  const child = spawn(command, args, { env: environment({ PATH: '/usr/bin:/bin' }), stdio: ['pipe', 'pipe', 'pipe'] })
  const clientInfo = { name: 'managers', version: '1' }
  const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo }
  const send = (message) => child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  child.stdin.on('error', () => {})
  return new Promise((resolve) => {
    let found = ''
    let said = ''
    const late = setTimeout(() => resolve(`nothing: no answer. ${said}`), STEP_MS)
    child.on('error', ({ message }) => resolve(`nothing: ${message}`))
    child.on('close', () => resolve(`nothing: it ends. ${said}`))
    child.stderr.on('data', (text) => (said += text))
    createInterface({ input: child.stdout }).on('line', (line) => {
      if (!line.startsWith('{')) return resolve(`nothing: a client cannot read ${line}`)
      const { id, result } = JSON.parse(line)
      if (id === 1) {
        found = result?.serverInfo.version
        send({ method: 'notifications/initialized' })
        send({ id: 2, method: 'tools/call', params: { name: 'run_python', arguments: { code: 'print(6*7)' } } })
      }
      if (id !== 2) return
      clearTimeout(late)
      child.stdin.end()
      resolve(`${found} ${result?.content?.[0]?.text}`)
    })
    send({ id: 1, method: 'initialize', params })
  })
}

/** Of a user who has nothing but these variables. */
function environment(env) {
  const settings = { MCP_BRIDGE_RUNTIME: 'pyodide', MCP_BRIDGE_RESIDENT: 'off' }
  const npm = { npm_config_userconfig: userconfig, npm_config_cache: cache, npm_config_update_notifier: 'false' }
  const network = Object.entries(process.env).filter(([name]) => /(?:_proxy|^SSL_CERT_\w+|_CA_CERTS)$/i.test(name))
  return { ...Object.fromEntries(network), PATH: process.env.PATH, HOME: home, ...npm, ...settings, ...env }
}
function run(command, args, { env, cwd = work } = {}) {
  return spawnSync(command, args, {
    cwd,
    env: env ? environment(env) : process.env,
    encoding: 'utf8',
    timeout: STEP_MS,
  })
}
function must(command, args, options) {
  const done = run(command, args, options)
  if (done.status !== 0)
    throw new Error(`${path.basename(command)} ${args[0]}: ${done.error ?? ''}${done.stderr}${done.stdout}`)
  return done
}
function readJson(file) {
  return JSON.parse(readFileSync(file, 'utf8'))
}
function print(text) {
  process.stdout.write(text)
}
