import { decode as decodeToon } from '@toon-format/toon'
import { describe, expect, it } from 'vitest'
import type { CellResult } from '../session/cell-result.ts'
import { renderResult } from './render-result.ts'

const result = (extra: Partial<CellResult> = {}): CellResult => ({
  status: 'ok',
  stdout: '',
  stderr: '',
  displays: [],
  notes: [],
  stateLost: false,
  durationMs: 5,
  timeoutMs: 30_000,
  ...extra,
})

const render = (
  extra: Partial<CellResult> = {},
  mode: 'compact' | 'toon' | 'json' = 'compact',
  outputTokens = 6_000,
) => {
  const rendered = renderResult(result(extra), { mode, outputTokens })
  return { ...rendered, text: rendered.content[0]!.type === 'text' ? rendered.content[0]!.text : '' }
}

describe('compact', () => {
  it('is what a terminal would show', () => {
    const { text, isError } = render({
      stdout: 'a\n',
      stderr: 'warned\n',
      value: { 'text/plain': '42' },
      notes: ['a note'],
    })
    expect(text).toBe('a\n[stderr]\nwarned\n42\n[a note]')
    expect(isError).toBe(false)
  })

  it('says in two words that nothing was printed', () => {
    expect(render().text).toBe('(no output)')
  })

  it('shows a timeout, a lost session and a Python error as what they are', () => {
    const error = { name: 'ValueError', message: 'no', traceback: 'Traceback…\nValueError: no\n' }
    expect(render({ status: 'error', error }).text).toBe('Traceback…\nValueError: no')
    expect(render({ status: 'timeout' }).text).toMatch(/Timed out after 30 s.*kept/)
    expect(render({ status: 'timeout', stateLost: true }).text).toMatch(/variables are gone/)
    expect(render({ status: 'killed', stateLost: true, notes: ['Why.'] }).text).toMatch(/gone[\s\S]*Why/)
    expect(render({ status: 'interrupted' }).text).toMatch(/Interrupted/)
    for (const status of ['error', 'timeout', 'killed', 'interrupted'] as const)
      expect(render({ status }).isError).toBe(true)
  })
})

describe('structuredContent', () => {
  it('carries only the fields that are not empty', () => {
    expect(render({ stdout: 'x' }).structuredContent).toEqual({ status: 'ok', stdout: 'x' })
    const error = { name: 'E', message: '', traceback: 't' }
    expect(render({ status: 'error', error }).structuredContent).toEqual({
      status: 'error',
      error: { name: 'E', traceback: 't' },
    })
  })
})

describe('json and toon', () => {
  const fields = { stdout: 'x\ny', value: { 'text/plain': '[1, 2]' }, notes: ['n'] }

  it('json is the structured content', () => {
    const { text, structuredContent } = render(fields, 'json')
    expect(JSON.parse(text)).toEqual(structuredContent)
  })

  it('toon decodes to the structured content and is never longer than JSON', () => {
    const { text, structuredContent } = render(fields, 'toon')
    expect(decodeToon(text)).toEqual(structuredContent)
    expect(text.length).toBeLessThanOrEqual(JSON.stringify(structuredContent).length)
  })
})

describe('the budget', () => {
  it('keeps head and tail and says how much is missing', () => {
    const stdout = `BEGIN ${'word '.repeat(100_000)}END`
    const { text, structuredContent } = render({ stdout }, 'compact', 500)
    expect(text.length).toBeLessThan(2_500)
    expect(text).toMatch(/^BEGIN[\s\S]*\d+ of 500009 characters are left out[\s\S]*END$/)
    expect(String(structuredContent['stdout']).length).toBeLessThan(2_500)
  })

  it('leaves what fits untouched', () => {
    expect(render({ stdout: 'short' }, 'compact', 500).text).toBe('short')
  })
})

it('gives images as image blocks', () => {
  const { content } = render({ displays: [{ 'image/png': 'AAAA', 'text/plain': '<Figure>' }] })
  expect(content).toEqual([
    { type: 'text', text: '<Figure>' },
    { type: 'image', data: 'AAAA', mimeType: 'image/png' },
  ])
})
