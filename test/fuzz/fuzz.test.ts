// @module-tag whole: random input, for some seconds
// This file verifies that hostile bytes crash nothing: the whole corpus, and new inputs from a seed that a failure
// names.
import { rmSync } from 'node:fs'
import { describe, expect, it, onTestFinished } from 'vitest'
import { frames } from './frames.ts'
import { FAMILIES, fuzz } from './run.ts'

const seed = Number(process.env['SANDBRIDGE_FUZZ_SEED'] ?? 20_261)

describe(`inputs made from seed ${seed}`, () => {
  it.each(Object.keys(FAMILIES))(
    'generated inputs break no promise of the family %s',
    { timeout: 240_000 },
    async (name) => {
      expect(await fuzz(await FAMILIES[name]!(), { seed, seconds: 45 })).toBeGreaterThan(20)
    },
  )

  it('control: a part that cannot take a NUL is found by generated inputs', async () => {
    const fragile = {
      ...frames,
      name: 'control',
      attempt: (input: Buffer) => {
        if (input.includes('\\u0000') || input.includes(0)) throw new Error('a NUL')
      },
    }
    onTestFinished(() => rmSync(new URL('corpus/control', import.meta.url), { recursive: true, force: true }))
    await expect(fuzz(fragile, { seed })).rejects.toThrow(/a NUL \(input kept in .*control/)
  })
})
