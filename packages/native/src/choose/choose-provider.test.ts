import { describe, expect, it } from 'vitest'
import { readSettings } from '@sandbridge/core/config/settings'
import { BridgeError } from '@sandbridge/core/errors.ts'
import { SILENT } from '@sandbridge/core/util'
import { prepareAhead } from '../../../core/src/isolation/detect/provider-choice.ts'
import { chooseProvider, forgetFailures } from './choose-provider.ts'
import type { FoundProvider } from '@sandbridge/core/isolation/detect'
import type { Provider, ProviderName } from '@sandbridge/core/isolation'
import { newFolder } from '@sandbridge/core/test/support/machine/new-folder.ts'

const fake = (name: ProviderName, prepare: () => Promise<void> = async () => {}): Provider => ({
  name,
  prepare,
  start: () => Promise.reject(new Error('not here')),
})
const found = (prepare: () => Promise<void>): FoundProvider => ({ provider: fake('podman', prepare), passedOver: [] })

describe('preparing a provider ahead of need', () => {
  it('finds the provider and has it prepare', async () => {
    const prepared = new Promise<string>((resolve) => {
      prepareAhead(() => Promise.resolve(found(async () => resolve('prepared'))))
    })
    expect(await prepared).toBe('prepared')
  })

  it('leaves the error of a provider that cannot prepare to whoever needs a sandbox', async () => {
    const refused: unknown[] = []
    const onRefused = (reason: unknown) => void refused.push(reason)
    process.on('unhandledRejection', onRefused)
    const missing = new BridgeError('SANDBOX_ENGINE_MISSING', 'There is none')
    prepareAhead(() => Promise.resolve(found(() => Promise.reject(missing))))
    prepareAhead(() => Promise.reject(missing))
    await new Promise((resolve) => setTimeout(resolve, 20))
    process.off('unhandledRejection', onRefused)
    expect(refused).toEqual([])
  })
})

describe('a provider that starts no sandbox', () => {
  /** A machine where bubblewrap seems usable, in this version. */
  const machine = (runtime = 'auto') => {
    const folder = newFolder()
    const settings = readSettings({ MCP_BRIDGE_CACHE_DIR: folder, MCP_BRIDGE_RUNTIME: runtime }, { home: folder })
    const start = (version: string) => {
      const verdict = `bubblewrap ${version}`
      const choose = chooseProvider(settings, SILENT, false, async (_settings, _log, _onProgress, known) => {
        const isFailed = known?.failed?.bubblewrap?.verdict === verdict
        return { provider: fake(isFailed ? 'pyodide' : 'bubblewrap'), verdict, passedOver: [] }
      })
      return { choose, name: async () => (await choose()).provider.name }
    }
    return { settings, start }
  }
  const failed = new BridgeError('SANDBOX_START_FAILED', 'The sandbox did not start: no uid map.')

  it('is passed over for the next one, in this bridge and in later ones, until its version changes', async () => {
    const { settings, start } = machine()
    const { choose, name } = start('1')
    const { provider } = await choose()
    expect(provider.name).toBe('bubblewrap')
    expect(choose.passOver!(provider, failed)).toBe('bubblewrap: no uid map.')
    expect(await name()).toBe('pyodide')
    // Another sandbox of it failed at the same time: what is chosen by now stays.
    expect(choose.passOver!(provider, failed)).toBe('bubblewrap: no uid map.')
    expect(await name()).toBe('pyodide')
    expect(await start('1').name()).toBe('pyodide')
    expect(await start('2').name()).toBe('bubblewrap')
    forgetFailures(settings)
    expect(await start('1').name()).toBe('bubblewrap')
  })

  it('is tried again by the next bridge, if it was only late', async () => {
    const { start } = machine()
    const { choose, name } = start('1')
    choose.passOver!((await choose()).provider, new BridgeError('SANDBOX_START_TIMEOUT', 'late'))
    expect(await name()).toBe('pyodide')
    expect(await start('1').name()).toBe('bubblewrap')
  })

  it('is kept if it is the last, or if the user has named it', async () => {
    const { choose } = machine().start('1')
    expect(choose.passOver!(fake('pyodide'), failed)).toBeUndefined()
    const named = machine('bubblewrap').start('1').choose
    expect(named.passOver!((await named()).provider, failed)).toBeUndefined()
  })
})
