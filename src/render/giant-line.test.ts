import { expect, it } from 'vitest'
import { estimateTokens } from '../text/estimate-tokens.ts'
import { renderResult } from './render-result.ts'

const rendered = (stdout: string) => {
  const result = {
    status: 'ok' as const,
    cell: 3,
    outputUri: 'sandbridge://output/3',
    stdout,
    stderr: '',
    displays: [],
    notes: [],
    stateLost: false,
    durationMs: 1,
    timeoutMs: 1,
  }
  const [block] = renderResult(result, { mode: 'compact', outputTokens: 4_000, structured: 'never' }).content
  return block?.type === 'text' ? block.text : ''
}

it('a giant line of JSON is told by its shape and its head', () => {
  const rows = Array.from({ length: 50_000 }, (_, id) => ({ id, name: `row ${id}`, value: id * 1.5 }))
  const text = rendered(`${JSON.stringify(rows)}\n`)
  expect(text).toMatch(/^list of 50,000 × \{id, name, value\}:\n\[\{"id":0,"name":"row 0"/)
  expect(text).toMatch(/characters left out: runtime\.output\(3\)\[\d+:\d+\]/)
  expect(estimateTokens(text)).toBeLessThan(900)
  expect(rendered(JSON.stringify({ total: 2, items: rows }))).toMatch(
    /^\{total, items: list of 50,000 × \{id, name, value\}\}:\n/,
  )
})

it('a log and a line that is no JSON keep their two ends, within the whole budget', () => {
  const log = rendered(`BEGIN\n${'a line of the log with some words\n'.repeat(5_000)}END`)
  expect(log).toMatch(/^BEGIN[\s\S]*END\n/)
  expect(estimateTokens(log)).toBeGreaterThan(2_500)
  expect(rendered(`BEGIN ${'[1, 2] '.repeat(50_000)} END`)).toMatch(/^BEGIN[\s\S]* END\n/)
})
