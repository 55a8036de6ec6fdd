import { expect, it } from 'vitest'
import { plainNumbers } from './plain-numbers.ts'

it('every space, hyphen and digit of one UTF-16 unit is read as that of ASCII', () => {
  const all = Array.from({ length: 0xd8_00 + 0x20_00 }, (_, index) =>
    String.fromCharCode(index < 0xd8_00 ? index : index + 0x8_00),
  ).filter((char) => /[^\P{Zs} ]|[^\P{Pd}-]|[^\P{Nd}0-9]/u.test(char))
  expect(all.length).toBeGreaterThan(300)
  for (const char of all) expect(plainNumbers(`é${char}x`)).toMatch(/^é[ \d-]x$/)
})

it('all other characters keep their form and their position', () => {
  const text = 'größe “日本語” संपर्क 𝟒 \ud800 \u200b\n'
  expect(plainNumbers(text)).toBe(text)
  expect(plainNumbers(`${text}\u00a0٣`)).toBe(`${text} 3`)
})
