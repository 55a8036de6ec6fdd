// The providers that tests run against, real ones only. SANDBRIDGE_TEST_ENGINES=podman,docker,bubblewrap names those that must be there;
// any other one that is missing is a skip with its reason.
import { spawnSync } from 'node:child_process'
import { homedir } from 'node:os'
import path from 'node:path'
import { onTestFinished, type TestContext } from 'vitest'
import { messageOf } from '../../src/errors.ts'
import { BubblewrapProvider } from '../../src/sandbox/bubblewrap/provider.ts'
import { ContainerProvider } from '../../src/sandbox/container/provider.ts'
import { PyodideProvider } from '../../src/sandbox/pyodide/provider.ts'
import type { Provider, ProviderName, Sandbox } from '../../src/sandbox/provider.ts'

/** Built by .ci/engines.sh or `sandbridge image build slim`. */
export const SLIM_IMAGE = process.env['SANDBRIDGE_TEST_IMAGE'] ?? 'localhost/sandbridge-slim:test'
export const DATA_IMAGE = process.env['SANDBRIDGE_TEST_DATA_IMAGE'] ?? 'localhost/sandbridge-data:test'
export const PROVIDER_NAMES: ProviderName[] = ['podman', 'docker', 'bubblewrap', 'pyodide']

const MUST_BE_THERE = (process.env['SANDBRIDGE_TEST_ENGINES'] ?? '')
  .split(',')
  .map((name) => name.trim())
  .filter((name) => name !== '')
  .map((name) => {
    const known = PROVIDER_NAMES.find((one) => one === name)
    // A misspelt name would turn a failure into a skip.
    if (known === undefined) throw new Error(`SANDBRIDGE_TEST_ENGINES: no provider is named '${name}'`)
    return known
  })

export function makeProvider(name: ProviderName, image = SLIM_IMAGE): Provider {
  if (name === 'pyodide') return new PyodideProvider({ cacheFolder: path.join(homedir(), '.cache', 'sandbridge-test') })
  if (name === 'bubblewrap') return new BubblewrapProvider({ pidsCount: 128 })
  return new ContainerProvider(name, { image, user: '65534:65534', pidsCount: 128 })
}

/** Why a provider cannot be tested here; undefined when it can. Throws when it must be there and is not. */
export async function whyNot(provider: Provider): Promise<string | undefined> {
  try {
    await provider.prepare()
    return undefined
  } catch (error) {
    if (MUST_BE_THERE.includes(provider.name) || provider.name === 'pyodide') throw error
    return `${provider.name}: ${messageOf(error)}`
  }
}

/** An image that was made for a test, such as one with packages, goes with the test; `sandbox` is of it. */
export function removeImageOf(sandbox: Sandbox): void {
  const { provider: engine, id } = sandbox
  if (engine !== 'podman' && engine !== 'docker') return
  const image = spawnSync(engine, ['inspect', '--format', '{{.Image}}', id], { encoding: 'utf8' }).stdout.trim()
  onTestFinished(async () => {
    await sandbox.dispose()
    spawnSync(engine, ['rmi', '--force', image])
  })
}

/** A prepared provider; a machine without it skips the test and prints why. */
export async function providerOrSkip(name: ProviderName, ctx: TestContext, image?: string): Promise<Provider> {
  const provider = makeProvider(name, image)
  const reason = await whyNot(provider)
  if (reason !== undefined) ctx.skip(reason)
  return provider
}
