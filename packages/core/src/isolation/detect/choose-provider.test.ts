import { describe, expect, it } from 'vitest'
import { BridgeError } from '../../errors.ts'
import { prepareAhead } from './choose-provider.ts'
import type { FoundProvider } from './detect.ts'

const found = (prepare: () => Promise<void>): FoundProvider => ({
  provider: { name: 'podman', prepare, start: () => Promise.reject(new Error('not here')) },
  passedOver: [],
})

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
