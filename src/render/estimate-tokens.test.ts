// The estimate against the tokenizer that it stands in for, over the kinds of text that cells print.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base'
import { describe, expect, it } from 'vitest'
import { estimateTokens } from './estimate-tokens.ts'

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
  Markdown: source('../../ARCHITECTURE.md'),
  TypeScript: source('./render-result.ts'),
  Python: source('../../python/sandbridge_kernel/channel.py'),
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

/** Kinds for which only the lower bound counts: here an estimate may be far too high. */
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
}

const long = (text: string) => text.repeat(Math.ceil(2_000 / text.length))
const ratio = (text: string) => estimateTokens(long(text)) / countTokens(long(text))

describe('estimateTokens', () => {
  it.each(Object.entries({ ...ORDINARY, ...OTHER }))('is at most 10 % too low for %s', (_, text) => {
    expect(ratio(text)).toBeGreaterThanOrEqual(0.9)
  })

  it.each(Object.entries(ORDINARY))('is at most 60 % too high for %s', (_, text) => {
    expect(ratio(text)).toBeLessThanOrEqual(1.6)
  })

  it('takes any string', () => {
    expect(estimateTokens('')).toBe(0)
    expect(estimateTokens('\ud800 \udc00')).toBeGreaterThan(0)
    expect(estimateTokens('\u{10ffff}\uffff')).toBeGreaterThan(0)
  })
})
