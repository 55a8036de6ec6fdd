import { expect, it } from 'vitest'
import { estimateTokens } from '../../util/tokens/estimate-tokens.ts'
import { renderResult, withParts } from './render-result.ts'
import { EMPTY_RESULT } from '../../../test/support/servers/empty-result.ts'

const rendered = (stdout: string) => {
  const result = { ...EMPTY_RESULT, cell: 3, outputUri: 'sandbridge://output/3', stdout }
  const [block] = renderResult(withParts(result), { mode: 'compact', outputTokens: 4_000 }).content
  return block?.type === 'text' ? block.text : ''
}

it('a giant line of JSON is summarised by its shape and its beginning', () => {
  const rows = Array.from({ length: 50_000 }, (_, id) => ({ id, name: `row ${id}`, value: id * 1.5 }))
  const text = rendered(`${JSON.stringify(rows)}\n`)
  expect(text).toMatch(/^list of 50,000 × \{id, name, value\}:\n\[\{"id":0,"name":"row 0"/)
  expect(text).toMatch(/characters left out: runtime\.output\(3\)\[\d+:\d+\]/)
  expect(estimateTokens(text)).toBeLessThan(900)
  expect(rendered(JSON.stringify({ total: 2, items: rows }))).toMatch(
    /^\{total, items: list of 50,000 × \{id, name, value\}\}:\n/,
  )
})

it('a giant repr of a Python list, tuple, set or dict is summarised by its shape and its beginning', () => {
  const row = "{'id': 7, 'it\\'s': \"don't, [see\", 'at': datetime.date(2026, 1, 2), 'tags': ['a', 'b'], 'ok': True}"
  const rows = (count: number) => Array.from({ length: count }, () => row).join(', ')
  const shape = "{id, it\\\\'s, at, tags: list of 2 × str, ok}"
  expect(rendered(`[${rows(1_000)}]\n`)).toMatch(new RegExp(`^list of 1,000 × ${shape}:\n\\[\\{'id': 7, `))
  expect(rendered(`(${rows(1_000)},)`)).toMatch(new RegExp(`^tuple of 1,000 × ${shape}:\n`))
  expect(rendered(`{'total': 2, 'rows': [${rows(1_000)}]}`)).toMatch(
    /^\{total, rows: list of 1,000 × \{id, it\\'s, at, tags, ok\}\}:\n/,
  )
  expect(rendered(`{${Array.from({ length: 9_000 }, (_, i) => i).join(', ')}}`)).toMatch(/^set of 9,000 × number:\n/)
  expect(rendered(`[${"Decimal('1.5'), ".repeat(3_000)}None]`)).toMatch(/^list of 3,001 × Decimal:\n/)
  expect(estimateTokens(rendered(`[${rows(5_000)}]`))).toBeLessThan(900)
})

it('a giant line that only begins like JSON keeps its two ends', () => {
  for (const text of [
    `[${'1, '.repeat(20_000)}END`,
    `[${'1, '.repeat(20_000)}2] END`,
    `[${'1, '.repeat(20_000)}2) END`,
    `['${'x'.repeat(50_000)} END`,
    `${'['.repeat(30_000)} END`,
    `${'[1'.repeat(30_000)}${']'.repeat(30_000)} END`,
    `{'a': 1, ${"'b' ".repeat(20_000)} END`,
  ])
    expect(rendered(text)).toMatch(/^[[{][\s\S]* END\n/)
})

it('a giant line of a log, or of invalid JSON, keeps its two ends within the whole budget', () => {
  const log = rendered(`BEGIN\n${'a line of the log with some words\n'.repeat(5_000)}END`)
  expect(log).toMatch(/^BEGIN[\s\S]*END\n/)
  expect(estimateTokens(log)).toBeGreaterThan(2_500)
  expect(rendered(`BEGIN ${'[1, 2] '.repeat(50_000)} END`)).toMatch(/^BEGIN[\s\S]* END\n/)
})
