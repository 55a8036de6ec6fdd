import { expect, it, vi } from 'vitest'
import { KEY, Scanner, STRIDE } from './scan-text.ts'

async function keysOf(text: string): Promise<number[]> {
  vi.resetModules()
  const { Scanner: Another } = await import('./scan-text.ts')
  const scanner = new Another()
  scanner.scan(text)
  return Array.from({ length: scanner.end / STRIDE }, (_, unit) => scanner.units[unit * STRIDE + KEY]!)
}

it('hashes differ between processes: nobody can prepare a text that counts as another one', async () => {
  const [one, other] = [await keysOf('bob@acme.example'), await keysOf('bob@acme.example')]
  expect(one).toHaveLength(other.length)
  expect(one.filter((key, at) => key === other[at])).toEqual([])
})

it('a long text is told in portions as it is told at once', () => {
  const scanner = new Scanner()
  const text = Array.from({ length: 2_000 }, (_, at) => `word${at}, ann${at}@acme.example`).join('\n')
  scanner.scan(text)
  const atOnce = scanner.units.slice(0, scanner.end)
  const portions: number[] = []
  scanner.scan(text, (units, end) => portions.push(...units.subarray(0, end)))
  expect(portions.join(' ')).toBe(atOnce.join(' '))
  scanner.scan('short')
  expect(scanner.units.length).toBeLessThan(atOnce.length)
})
