// The providers that tests run against, real ones only, of the packages that are there.
// SANDBRIDGE_TEST_ENGINES=podman,docker,bubblewrap names those that must exist; tests of any other missing one are
// skipped with the reason.
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { onTestFinished } from 'vitest'
import { messageOf } from '../../../src/errors.ts'
import { PyodideProvider } from '../../../src/isolation/pyodide/provider.ts'
import type { Provider, ProviderName, Sandbox } from '../../../src/isolation/provider.ts'
import { SANDBOX_CACHE } from './sandbox-cache.ts'
import { skip } from '../suite/needs.ts'

/** Built by .ci/engines.sh or `sandbridge image build slim`. */
export const SLIM_IMAGE = process.env['SANDBRIDGE_TEST_IMAGE'] ?? 'localhost/sandbridge-slim:test'
/** The slim image with Node. */
export const NODE_IMAGE = process.env['SANDBRIDGE_TEST_NODE_IMAGE'] ?? 'localhost/sandbridge-node:test'
export const DATA_IMAGE = process.env['SANDBRIDGE_TEST_DATA_IMAGE'] ?? 'localhost/sandbridge-data:test'
/** Providers that run on this machine. */
export type LocalProvider = Exclude<ProviderName, 'kubernetes'>
export const PROVIDER_NAMES: LocalProvider[] = ['podman', 'docker', 'bubblewrap', 'pyodide']
/**
 * A provider as tests name it: bubblewrap with an image or with forked sandboxes counts as another one, and so do
 * engines through which all frames go.
 */
export type TestedProvider = ProviderName | 'bubblewrap-image' | 'bubblewrap-fork' | 'podman-pipe' | 'docker-pipe'
const TESTED_PROVIDERS: TestedProvider[] = [...PROVIDER_NAMES, 'bubblewrap-image', 'bubblewrap-fork', 'kubernetes']

const MUST_BE_THERE = (process.env['SANDBRIDGE_TEST_ENGINES'] ?? '')
  .split(',')
  .map((name) => name.trim())
  .filter((name) => name !== '')
  .map((name) => {
    const known = TESTED_PROVIDERS.find((one) => one === name)
    // A misspelt name would turn a failure into a skip.
    if (known === undefined) throw new Error(`SANDBRIDGE_TEST_ENGINES: no provider is named '${name}'`)
    return known
  })

/** Whether this run must find the provider on this machine. */
export const isRequired = (name: TestedProvider): boolean => MUST_BE_THERE.includes(name)

/**
 * Where images are unpacked once for all tests: the user of root's sandboxes must be able to enter it. A home folder
 * may be read-only.
 */
export const IMAGE_CACHE =
  process.getuid?.() === 0 ? '/var/cache/sandbridge-test' : path.join(SANDBOX_CACHE, '../images')

/** Settings of a bridge with this provider. */
export function runtimeEnv(name: TestedProvider | 'auto', image = SLIM_IMAGE): Record<string, string> {
  if (name === 'bubblewrap-image')
    return { MCP_BRIDGE_RUNTIME: 'bubblewrap', MCP_BRIDGE_IMAGE: image, MCP_BRIDGE_CACHE_DIR: IMAGE_CACHE }
  const isEngine = name === 'podman' || name === 'docker'
  return { MCP_BRIDGE_RUNTIME: name, ...(isEngine && { MCP_BRIDGE_IMAGE: image }) }
}

/** How tests make providers. A package exports its own as TESTED in `test/support/tested-providers.ts`. */
export type TestedProviders = Partial<
  Record<TestedProvider, (how: { image: string; cacheDir: string; node: boolean }) => Provider>
>

const PACKAGES = path.join(import.meta.dirname, '../../../..')
const FILES = readdirSync(PACKAGES).map((name) => path.join(PACKAGES, name, 'test/support/tested-providers.ts'))
const BROUGHT = FILES.filter((file) => existsSync(file)).map(
  (file) => import(pathToFileURL(file).href) as Promise<{ TESTED: TestedProviders }>,
)
const TESTED: TestedProviders = {
  pyodide: () => new PyodideProvider({ cacheFolder: SANDBOX_CACHE }),
  ...Object.assign({}, ...(await Promise.all(BROUGHT)).map((brought) => brought.TESTED)),
}

/** Providers that have another name in tests. */
const testedAs = new WeakMap<Provider, TestedProvider>()

/** One that tests find missing. */
function absent(name: TestedProvider): Provider {
  const prepare = () => Promise.reject(new Error('its package is not there'))
  return { name: name.split('-')[0] as ProviderName, prepare, start: prepare }
}

/** @param node gives sandboxes with this machine's own system its Node */
export function makeProvider(name: TestedProvider, image = SLIM_IMAGE, node = false): Provider {
  const provider = TESTED[name]?.({ image, cacheDir: IMAGE_CACHE, node }) ?? absent(name)
  if (name.startsWith('bubblewrap-')) testedAs.set(provider, name)
  return provider
}

/** A provider whose sandboxes have Node; undefined when `provider` is one. */
export function makeNodeProvider(name: TestedProvider): Provider | undefined {
  if (name === 'pyodide' || name === 'kubernetes') return undefined
  return makeProvider(name, NODE_IMAGE, true)
}

/** Why a provider cannot be tested here; undefined when it can. Throws when it is required and missing. */
export async function whyNot(provider: Provider): Promise<string | undefined> {
  const name = testedAs.get(provider) ?? provider.name
  try {
    await provider.prepare()
    if (name === 'bubblewrap-fork') await (await provider.start({ memoryBytes: 512 << 20 })).dispose()
    return undefined
  } catch (error) {
    if (MUST_BE_THERE.includes(name) || name === 'pyodide') throw error
    return `${name}: ${messageOf(error)}`
  }
}

/** Removes a test's own image, such as one with packages, with the test; `sandbox` uses the image. */
export function removeImageOf(sandbox: Sandbox): void {
  const { provider: engine, id } = sandbox
  if (engine !== 'podman' && engine !== 'docker') return
  const image = spawnSync(engine, ['inspect', '--format', '{{.Image}}', id], { encoding: 'utf8' }).stdout.trim()
  onTestFinished(async () => {
    await sandbox.dispose()
    spawnSync(engine, ['rmi', '--force', image])
  })
}

/** A prepared provider; without it, skips the test and prints the reason. */
export async function providerOrSkip(name: TestedProvider, image?: string): Promise<Provider> {
  const provider = makeProvider(name, image)
  const reason = await whyNot(provider)
  if (reason !== undefined) skip(reason)
  return provider
}
