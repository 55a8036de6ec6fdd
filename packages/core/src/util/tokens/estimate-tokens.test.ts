// This file verifies the estimate against the tokenizer that it replaces, on the kinds of text that cells print.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base'
import { expect, it } from 'vitest'
import { estimateTokens, fitsTokens, headWithin, tailWithin } from './estimate-tokens.ts'

const times = (count: number, line: (index: number) => string) =>
  Array.from({ length: count }, (_, i) => line(i)).join('')
/** Bytes without a pattern, the same in every run. */
const bytes = (count: number) =>
  Buffer.concat(Array.from({ length: Math.ceil(count / 32) }, (_, i) => createHash('sha256').update(`${i}`).digest()))
const letters = (count: number, alphabet: string) =>
  [...bytes(count)].map((byte) => alphabet[byte % alphabet.length]).join('')
const source = (name: string) => readFileSync(new URL(name, import.meta.url), 'utf8')
const records = Array.from({ length: 100 }, (_, id) => ({
  id,
  name: `user${id}`,
  email: `u${id}@example.com`,
  on: id % 2 === 0,
}))

const ORDINARY: Record<string, string> = {
  English:
    'Nobody had expected the committee to publish its findings before winter, and yet there it was: a short report that explained everything. ',
  Markdown: source('../../../../../ARCHITECTURE.md'),
  TypeScript: source('../../cell/render/render-result.ts'),
  Python: source('../../../python/sandbridge_kernel/wire/channel.py'),
  JSON: JSON.stringify(records),
  'pretty JSON': JSON.stringify(records, null, 2),
  CSV: times(200, (i) => `${i},Customer ${i},2026-0${1 + (i % 9)}-1${i % 10}T12:00:00Z,${(i * 13.37).toFixed(2)}\n`),
  'a log': times(
    100,
    (i) =>
      `2026-11-20T10:${10 + (i % 50)}:0${i % 10}.${100 + i}Z INFO [worker-${i % 8}] GET /api/v1/items/${i} 200 in ${i % 97} ms\n`,
  ),
  'a table': times(100, (i) => `| ${i} | item ${i} | ${Math.round(i * 13.7)} | open |\n`),
  'a data frame': times(
    100,
    (i) => `${String(i).padStart(3)}  ${(i * 1.7).toFixed(6).padStart(10)}  name${i}   True\n`,
  ),
  tracebacks: times(
    20,
    (i) =>
      `Traceback (most recent call last):\n  File "/app/src/service_${i}.py", line ${i * 7}, in handle_request\n    result = await self.client.fetch(url, timeout=${i})\n             ^^^^^^^^^^^^^^^^^^^^^^^^^^^\nTimeoutError: timed out\n`,
  ),
  'a range': Array.from({ length: 1000 }, (_, i) => i).join(', '),
  German:
    'Die Bundesregierung hat gestern beschlossen, die Geschwindigkeitsbegrenzung auf Autobahnen zu überprüfen. Viele Bürger äußerten sich skeptisch. ',
  Chinese:
    '政府昨天宣布将重新审查反对派议员提出的提案。许多公民对这些规定的执行方式表示担忧。我们需要认真思考它的影响。',
  Japanese:
    '政府は昨日、野党議員が提出した提案を再検討すると発表した。多くの市民が懸念を表明した。データを取得して表示します。',
  Korean: '정부는 어제 야당 의원들이 제출한 제안을 재검토하겠다고 발표했다. 많은 시민들이 우려를 표명했다. ',
  Russian:
    'Правительство вчера объявило, что пересмотрит предложение, внесённое депутатами оппозиции. Многие граждане выразили обеспокоенность. ',
  'text with emoji': 'Deploy finished ✅ in 3.2s 🚀, 2 warnings ⚠️, 0 errors ❌. ',
}

const alphabet = (first: number, end: number) =>
  Array.from({ length: end - first }, (_, i) => String.fromCodePoint(first + i)).join('')

/** Kinds for which only the lower bound matters: the estimate may be far too high. */
const OTHER: Record<string, string> = {
  base64: bytes(6000).toString('base64'),
  hex: bytes(6000).toString('hex'),
  'a hex dump': times(
    100,
    (i) =>
      `${i.toString(16).padStart(8, '0')}  ${bytes(16 * i)
        .subarray(-16)
        .toString('hex')
        .replace(/../g, '$& ')}\n`,
  ),
  'random letters': letters(6000, 'abcdefghijklmnopqrstuvwxyz'),
  'random letters and digits': letters(6000, 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789'),
  'random signs': letters(6000, '!"#$%&\'()*+,-./:;<=>?@[\\]^_`{|}~'),
  'random ASCII': letters(6000, Array.from({ length: 95 }, (_, i) => String.fromCharCode(32 + i)).join('')),
  digits: letters(6000, '0123456789'),
  floats: Array.from({ length: 800 }, (_, i) => Math.sin(i) * 1000).join(' '),
  emoji: '😀😃🎉🚀🔥✅❌⚠️👍🏽👨‍👩‍👧‍👦🇩🇪🇺🇸💡📈🧪🦄',
  mathematics: '∀x∈ℝ: ⌈x⌉ = −⌊−x⌋, α ∧ ¬β = ¬(¬α ∨ β), ℕ ⊆ ℕ₀ ⊂ ℤ ',
  Arabic: 'أعلنت الحكومة أمس أنها ستعيد النظر في الاقتراح الذي قدمه نواب المعارضة. ',
  Hindi: 'सरकार ने कल घोषणा की कि वह विपक्षी सांसदों द्वारा प्रस्तुत प्रस्ताव की समीक्षा करेगी। ',
  Thai: 'รัฐบาลประกาศเมื่อวานนี้ว่าจะทบทวนข้อเสนอที่สมาชิกสภาฝ่ายค้านเสนอ ',
  Amharic: 'መንግሥት ትናንት በተቃዋሚ አባላት የቀረበውን ሐሳብ እንደገና እንደሚመለከት አስታወቀ። ',
  'control characters': times(2000, (i) => String.fromCharCode(i % 32)),
  'box drawing': `┌${'─'.repeat(40)}┐\n│ a │\n`,
  'blocks of a bar': `${'█'.repeat(20)}${'░'.repeat(20)}\n`,
  Windows: 'a\r\n\tb\r\n',
  tabs: `x${'\t'.repeat(500)}x`,
  'tabs and spaces': letters(3000, ' \t'),
  'tabs, spaces and line ends': letters(3000, ' \t\n'),
  'a sparse table': times(300, (i) => `${i}\t\t\t${i % 7}\t\t\tx\t\t\n`),
  'a listing': times(
    200,
    (i) => `-rw-r--r--  1 root root ${String(i * 37).padStart(8)} Nov 21 10:${10 + (i % 50)} f_${i}.txt\n`,
  ),
  'a Chinese table': times(200, (i) => `| ${i} | 东京都 | 報告書${i} | 大阪 |\n`),
  brackets: `${'['.repeat(1000)}${']'.repeat(1000)}`,
  'lines of one sign': `${'-'.repeat(777)}\n${'='.repeat(1001)}\n${'.'.repeat(333)}\n`,
  'invented words': times(1000, (i) => `${letters(i % 4 === 0 ? 3 : 5, 'bdgklmnprst')}a${'ou'[i % 2]}mi `),
  syllables: times(2000, (i) => 'bcdfgklmnprstvz'[bytes(2000)[i]! % 15]! + 'aeiou'[bytes(4000)[i + 2000]! % 5]!),
  'two letters': letters(3000, 'ab'),
  'a genome': letters(3000, 'acgt'),
  'a protein': letters(3000, 'ACDEFGHIKLMNPQRSTVWY'),
  'every Hangul syllable': alphabet(0xac00, 0xd7a4),
  'any Han': letters(3000, alphabet(0x4e00, 0x4f00)) + alphabet(0x6000, 0x6400),
  'Tamil letters': letters(2000, alphabet(0xb85, 0xbba)),
  'Devanagari letters': letters(2000, alphabet(0x905, 0x93a)),
  'Cyrillic letters': letters(2000, alphabet(0x410, 0x450)),
  'Greek letters': letters(2000, alphabet(0x391, 0x3ca)),
  'Arabic letters': letters(2000, alphabet(0x627, 0x64b)),
  'Latin-1 letters': letters(2000, alphabet(0xc0, 0x100)),
  'half-width Kana': letters(2000, alphabet(0xff66, 0xff98)),
  Braille: letters(2000, alphabet(0x2800, 0x2900)),
  'box signs': letters(2000, alphabet(0x2500, 0x2580)),
  Swahili: 'Serikali ilitangaza jana kwamba itafikiria upya pendekezo lililowasilishwa na wabunge wa upinzani. ',
  Latin: 'Gallia est omnis divisa in partes tres, quarum unam incolunt Belgae, aliam Aquitani. ',
  Sinhala: 'විපක්ෂ මන්ත්‍රීවරුන් ඉදිරිපත් කළ යෝජනාව නැවත සලකා බලන බව රජය ඊයේ නිවේදනය කළේය. ',
}

const long = (text: string) => text.repeat(Math.ceil(2_000 / text.length))
const ratio = (text: string) => estimateTokens(long(text)) / countTokens(long(text))

it.each(Object.entries({ ...ORDINARY, ...OTHER }))('the token estimate is at most 10 % too low for %s', (_, text) => {
  expect(ratio(text)).toBeGreaterThanOrEqual(0.9)
})

it.each(Object.entries(ORDINARY))('the token estimate is at most 90 % too high for %s', (_, text) => {
  expect(ratio(text)).toBeLessThanOrEqual(1.9)
})

it('the token estimate stops counting at the limit', () => {
  expect(estimateTokens('word '.repeat(1000), 10)).toBeLessThan(20)
  expect(fitsTokens('word '.repeat(1000), 10)).toBe(false)
  expect(fitsTokens('word '.repeat(10), 40)).toBe(true)
})

it('the token estimate accepts any string', () => {
  expect(estimateTokens('')).toBe(0)
  expect(estimateTokens('\ud800 \udc00')).toBeGreaterThan(0)
  expect(estimateTokens('\u{10ffff}\uffff')).toBeGreaterThan(0)
})

it.each(Object.entries({ ...ORDINARY, ...OTHER }))(
  'headWithin and tailWithin return no more than the limit, and not much less, of %s',
  (_, text) => {
    const longer = text.repeat(Math.ceil(20_000 / text.length))
    for (const piece of [longer.slice(0, headWithin(longer, 300)), longer.slice(-tailWithin(longer, 300))]) {
      expect(countTokens(piece)).toBeLessThanOrEqual(300 / 0.9)
      expect(estimateTokens(piece)).toBeGreaterThan(200)
    }
  },
)

it('headWithin and tailWithin return all of a text within the limit, and nothing for a limit of zero', () => {
  expect([headWithin('ab', 10), tailWithin('ab', 10)]).toEqual([2, 2])
  expect([headWithin('ab', 0), tailWithin('ab', 0)]).toEqual([0, 0])
  expect([headWithin('a😀', 3), tailWithin('😀a', 3)]).toEqual([3, 3])
})
