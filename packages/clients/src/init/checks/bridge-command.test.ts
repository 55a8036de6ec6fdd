import { mkdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'
import { needsPosix } from '@sandbridge/core/test/support/suite/needs.ts'
import { launchesBridge } from '@sandbridge/core/config/entries'
import { bridgeCommand } from './bridge-command.ts'
import { stableNode } from './stable-path.ts'
import { newFolder } from '@sandbridge/core/test/support/machine/new-folder.ts'

/** Files, and links where a value says to what, in a folder; a text is in JSON. */
function folderWith(files: Record<string, true | string | object>): string {
  const root = realpathSync(newFolder())
  for (const [name, what] of Object.entries(files)) {
    const file = path.join(root, name)
    mkdirSync(path.dirname(file), { recursive: true })
    if (typeof what === 'string') symlinkSync(what, file)
    else writeFileSync(file, what === true ? '' : JSON.stringify(what))
  }
  return root
}

it.each<[manager: string, node: string, stable: string, link?: [string, string] | undefined, onPath?: string[]]>([
  ['no manager', 'usr/bin/node', 'usr/bin/node', undefined, ['other/bin/node']],
  ['Homebrew', 'Cellar/node/22.21.0/bin/node', 'opt/node/bin/node', ['opt/node', '../Cellar/node/22.21.0']],
  [
    'Homebrew on the PATH',
    'Cellar/node/22.21.0/bin/node',
    'bin/node',
    ['bin/node', '../Cellar/node/22.21.0/bin/node'],
    ['bin/node'],
  ],
  [
    'mise',
    'mise/installs/node/22.14.0/bin/node',
    'mise/installs/node/22/bin/node',
    ['mise/installs/node/22', './22.14.0'],
    ['mise/shims/node'],
  ],
  ['mise, shims only', 'mise/installs/node/22.14.0/bin/node', 'mise/shims/node', ['mise/shims/node', '/usr/bin/env']],
  ['asdf', '.asdf/installs/nodejs/22.14.0/bin/node', '.asdf/shims/node', ['.asdf/shims/node', '/usr/bin/env']],
  ['Volta', '.volta/tools/image/node/22.14.0/bin/node', '.volta/bin/node', ['.volta/bin/node', '/usr/bin/env']],
  ['proto', '.proto/tools/node/22.14.0/bin/node', '.proto/shims/node', ['.proto/shims/node', '/usr/bin/env']],
  ['nodenv', '.nodenv/versions/22.14.0/bin/node', '.nodenv/shims/node', ['.nodenv/shims/node', '/usr/bin/env']],
  [
    'fnm',
    'fnm/node-versions/v22.14.0/installation/bin/node',
    'fnm/aliases/default/bin/node',
    ['fnm/aliases/default', '../node-versions/v22.14.0/installation'],
  ],
  [
    'fnm on Windows',
    'fnm/node-versions/v22.14.0/installation/node.exe',
    'fnm/aliases/default/node.exe',
    ['fnm/aliases/default', '../node-versions/v22.14.0/installation'],
  ],
  ['nvs', '.nvs/node/22.14.0/x64/bin/node', '.nvs/default/bin/node', ['.nvs/default', 'node/22.14.0/x64']],
  [
    'nvm with its link',
    '.nvm/versions/node/v22.14.0/bin/node',
    '.nvm/current/bin/node',
    ['.nvm/current', 'versions/node/v22.14.0'],
  ],
  ['nvm for Windows', 'nvm/v22.14.0/node.exe', 'nodejs/node.exe', ['nodejs', 'nvm/v22.14.0'], ['nodejs/node.exe']],
  [
    'scoop',
    'scoop/apps/nodejs/22.14.0/node.exe',
    'scoop/apps/nodejs/current/node.exe',
    ['scoop/apps/nodejs/current', '22.14.0'],
  ],
  ['snap', 'snap/node/9999/bin/node', 'snap/node/current/bin/node', ['snap/node/current', '9999']],
  ['an archive', 'opt/node-v22.14.0-linux-x64/bin/node', 'opt/node/bin/node', ['opt/node', 'node-v22.14.0-linux-x64']],
  [
    'nvm without it',
    '.nvm/versions/node/v22.14.0/bin/node',
    '.nvm/versions/node/v22.14.0/bin/node',
    ['.nvm/versions/node/lts', './v20.0.0'],
  ],
])('init writes the path of Node that lasts: %s', (_, node, stable, link, onPath = []) => {
  needsPosix('links of files take a privilege on Windows')
  const root = folderWith({ [node]: true, ...(link && { [link[0]]: link[1] }) })
  const place = (file: string): string => path.join(root, file)
  expect(stableNode(place(node), [place(node), ...onPath.map(place)])).toBe(place(stable))
})

it('a link of fnm for one shell is no lasting path', () => {
  needsPosix('links of files take a privilege on Windows')
  const node = 'fnm/node-versions/v22.14.0/installation/bin/node'
  const root = folderWith({ [node]: true, 'fnm_multishells/1_2': '../fnm/node-versions/v22.14.0/installation' })
  const ofShell = path.join(root, 'fnm_multishells/1_2/bin/node')
  expect(stableNode(ofShell, [ofShell])).toBe(path.join(root, node))
})

it.each<[runner: string, folder: string, made: object | undefined, words: string]>([
  ['npx', '.npm/_npx/0123/', undefined, 'npx -y sandbridge'],
  ['npx, a version', '.npm/_npx/0123/', { _npx: { packages: ['sandbridge@1.2.3'] } }, 'npx -y sandbridge@1.2.3'],
  [
    'npx, a file',
    '.npm/_npx/0123/',
    { dependencies: { sandbridge: 'file:../../../x.tgz' } },
    'npx -y -p ROOT/x.tgz sandbridge',
  ],
  ['pnpm dlx', '.cache/pnpm/dlx/0a1b/2c/', { dependencies: { sandbridge: '^0.3.0' } }, 'pnpm dlx sandbridge'],
  ['pnpm dlx of an old one', 'Library/Caches/pnpm/dlx-1234/2c/', undefined, 'pnpm dlx sandbridge'],
  [
    'pnpm dlx, a file',
    'Library/Caches/pnpm/dlx/0a1b/2c/',
    { dependencies: { sandbridge: 'file:/srv/x.tgz' } },
    'pnpm dlx /srv/x.tgz',
  ],
  ['yarn dlx', 'xfs-1a2b3c/dlx-77/', { dependencies: { sandbridge: 'latest' } }, 'yarn dlx -q sandbridge'],
  ['yarn dlx, a file', 'xfs-1a2b3c/dlx-77/.yarn/cache/s.zip/', undefined, 'yarn dlx -q sandbridge'],
  ['bunx', 'bunx-501-sandbridge@latest/', { dependencies: { sandbridge: '^0.3.0' } }, 'bun x sandbridge'],
  [
    'bunx, an address',
    '.bun/install/cache/.bunx-0/x/',
    { dependencies: { sandbridge: 'https://a.example/x.tgz' } },
    'bun x --package https://a.example/x.tgz sandbridge',
  ],
])('init writes the runner again that keeps the package for one start: %s', (_, folder, made, words) => {
  const root = folderWith({
    [`${folder}node_modules/sandbridge/dist/cli.js`]: true,
    ...(made && { [`${folder}package.json`]: made }),
  })
  const { command, args } = bridgeCommand(
    path.join(root, folder, 'node_modules/sandbridge'),
    '/usr/no/bin/node',
    () => [],
  )
  expect([command, ...args].join(' ').replaceAll('\\', '/')).toBe(words.replace('ROOT', root.replaceAll('\\', '/')))
  expect(launchesBridge({ type: 'stdio', command, args, env: {} }, [])).toBe(!words.endsWith('/x.tgz'))
})

it('a runner of Windows is recognised, and one in a folder of its own start is not written', () => {
  const root = String.raw`C:\Users\ann\AppData\Local\npm-cache\_npx\0123\node_modules\sandbridge`
  expect(bridgeCommand(root, String.raw`C:\node\node.exe`, () => [])).toEqual({
    command: 'npx',
    args: ['-y', 'sandbridge'],
  })
  const found = ['/tmp/xfs-1a2b/yarn', '/usr/bin/yarn']
  expect(bridgeCommand('/tmp/xfs-9/dlx-1/node_modules/sandbridge', '/usr/bin/node', () => found).command).toBe(
    '/usr/bin/yarn',
  )
})

it('through npx, the entry has the script of npx that lies beside Node: a desktop has no Node for npx itself', () => {
  const root = folderWith({ 'bin/node': true, 'lib/node_modules/npm/bin/npx-cli.js': true })
  const [node, npx] = ['bin/node', 'lib/node_modules/npm/bin/npx-cli.js'].map((file) => path.join(root, file))
  const wanted = { command: node, args: [npx, '-y', 'sandbridge'] }
  expect(bridgeCommand('/h/.npm/_npx/01/node_modules/sandbridge', node!, () => [])).toEqual(wanted)
})

it('init refuses a folder of any other cache, and says what to install', () => {
  for (const root of [
    '/h/.cache/deno/npm/registry.npmjs.org/sandbridge/0.3.0',
    '/h/Library/Caches/x/node_modules/sandbridge',
  ])
    expect(() => bridgeCommand(root, '/usr/bin/node', () => [])).toThrow(/in a cache/)
})

it('what pnpm names by version and content is written by the link of the package, or by its launcher', () => {
  needsPosix('links of files take a privilege on Windows')
  const store = 'pnpm/global/5/.pnpm/sandbridge@0.3.0/node_modules/sandbridge'
  const linked = folderWith({
    [`${store}/dist/cli.js`]: true,
    'pnpm/global/5/node_modules/sandbridge': `../.pnpm/sandbridge@0.3.0/node_modules/sandbridge`,
  })
  expect(bridgeCommand(path.join(linked, store), '/usr/bin/node', () => []).args).toEqual([
    path.join(linked, 'pnpm/global/5/node_modules/sandbridge/dist/cli.js'),
  ])
  const hashed = 'pnpm/store/v11/links/@/sandbridge/0.3.0/745d/node_modules/sandbridge'
  const root = folderWith({
    [`${hashed}/dist/cli.js`]: true,
    'pnpm/bin/sandbridge': { exec: '../global/v11/12/node_modules/sandbridge/packages/sandbridge/cli.cjs' },
  })
  const launcher = path.join(root, 'pnpm/bin/sandbridge')
  const find = (name: string): string[] => (name === 'sandbridge' ? [launcher] : [])
  expect(bridgeCommand(path.join(root, hashed), '/usr/bin/node', find)).toEqual({ command: launcher, args: [] })
})

it('what npm has installed beside a Node moves with it', () => {
  needsPosix('links of files take a privilege on Windows')
  const version = '.nvm/versions/node/v22.14.0'
  const root = folderWith({
    [`${version}/bin/node`]: true,
    [`${version}/lib/node_modules/sandbridge/dist/cli.js`]: true,
    '.nvm/current': 'versions/node/v22.14.0',
  })
  expect(
    bridgeCommand(
      path.join(root, version, 'lib/node_modules/sandbridge'),
      path.join(root, version, 'bin/node'),
      () => [],
    ),
  ).toEqual({
    command: path.join(root, '.nvm/current/bin/node'),
    args: [path.join(root, '.nvm/current/lib/node_modules/sandbridge/dist/cli.js')],
  })
})
