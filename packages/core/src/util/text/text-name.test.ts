import { expect, it } from 'vitest'
import { textName } from './text-name.ts'

const bits = (name: string): number[] => Array.from(name, (digit) => parseInt(digit, 16))
const differing = (one: string, other: string): number =>
  bits(one).reduce((sum, digit, at) => sum + (digit ^ bits(other)[at]!).toString(2).replaceAll('0', '').length, 0)

it('texts that differ little have names that differ in about half of their bits', () => {
  const text = '{"MCP_BRIDGE_TIMEOUT":"5","cwd":"/home/ann/project"}'
  const counts = Array.from(text, (_, at) => {
    const changed = text.slice(0, at) + String.fromCharCode(text.charCodeAt(at) ^ 1) + text.slice(at + 1)
    return differing(textName(text), textName(changed))
  })
  expect(textName(text)).toMatch(/^[0-9a-f]{32}$/)
  expect(Math.min(...counts)).toBeGreaterThan(35)
  expect(counts.reduce((sum, count) => sum + count, 0) / counts.length).toBeGreaterThan(55)
})

it('twenty thousand similar texts have twenty thousand names, even by a quarter of them', () => {
  const parts = Array.from({ length: 4 }, () => new Set<string>())
  for (let count = 0; count < 20_000; count += 1) {
    const name = textName(`/home/ann/${'x'.repeat(count % 7)}${count}`)
    for (const [at, part] of parts.entries()) part.add(name.slice(at * 8, at * 8 + 8))
  }
  // Of 32 bits, one or two are the same by chance.
  for (const part of parts) expect(part.size).toBeGreaterThan(19_997)
})

it('the order of characters, and those at the end, count', () => {
  expect(new Set(['ab', 'ba', 'aab', 'abb', '', '\0', '\0\0'].map(textName)).size).toBe(7)
})
