import { decode as decodeToon } from '@toon-format/toon'
import { describe, expect, it } from 'vitest'
import type { CellResult } from '../cell-result.ts'
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base'
import { joinParts } from './parts.ts'
import { type RenderedResult, renderResult, type ShownResult, withParts } from './render-result.ts'
import { EMPTY_RESULT } from '../../../test/support/servers/empty-result.ts'

const result = (extra: Partial<CellResult> = {}): ShownResult =>
  withParts({ ...EMPTY_RESULT, durationMs: 5, timeoutMs: 30_000, ...extra })

const render = (
  extra: Partial<CellResult> = {},
  mode: 'compact' | 'toon' | 'json' = 'compact',
  outputTokens = 6_000,
) => {
  const rendered = renderResult(result(extra), { mode, outputTokens, withData: true })
  return { ...rendered, text: rendered.content[0]!.type === 'text' ? rendered.content[0]!.text : '' }
}

it('the compact form is what a terminal would show', () => {
  const { text, isError } = render({
    stdout: 'a\n',
    stderr: 'warned\n',
    value: { 'text/plain': '42' },
    notes: ['a note'],
  })
  expect(text).toBe('a\n[stderr]\nwarned\n42\n[sandbridge: a note]')
  expect(isError).toBe(false)
})

it('the compact form says in two words that nothing was printed', () => {
  expect(render().text).toBe('(no output)')
})

it('the compact form has each image in its place among the prints, and the rest of the text after the last', () => {
  const displays = [{ 'image/png': 'iVBORwAA' }, { 'text/plain': 'a table' }, { 'image/png': 'iVBORwAA' }]
  const fields = { stdout: 'one\ntwo\nthree\n', displays, displayedAt: [4, 4, 8], stderr: 'warned', notes: ['a note'] }
  const seen = ({ content }: RenderedResult) => content.map((one) => (one.type === 'text' ? one.text : one.type))
  const rest = 'three\n[stderr]\nwarned\n[sandbridge: a note]'
  expect(seen(render(fields))).toEqual(['one', 'image', 'a table\ntwo', 'image', rest])
  expect(joinParts(result(fields).parts)).toBe(`one\na table\ntwo\n${rest}`)
  expect(render(fields).structuredContent).toMatchObject({ stdout: 'one\ntwo\nthree', displays: ['a table'] })
  expect(seen(render({ ...fields, displayedAt: [0, 0, 14] })).slice(0, 3)).toEqual([
    'image',
    'a table\none\ntwo\nthree',
    'image',
  ])
  const long = { stdout: 'word '.repeat(20_000), displays, displayedAt: [50_000, 50_000, 100_000] }
  expect(seen(render(long)).map((text) => text.length > 1_000 || text)).toEqual([
    true,
    'image',
    true,
    'image',
    expect.anything(),
  ])
})

it('the compact form says nothing of missing output beside an image', () => {
  const image = { 'image/png': 'iVBORw==' }
  expect(render({ value: image }).content.map(({ type }) => type)).toEqual(['image'])
  expect(render({ value: image, stdout: 'drawn' }).content.map(({ type }) => type)).toEqual(['text', 'image'])
  const session = { handle: 'h', keeps: 'variables' }
  const [first] = renderResult(result({ value: image }), { mode: 'compact', outputTokens: 6_000, session }).content
  expect(first).toMatchObject({ text: expect.stringContaining('session="h"') })
})

it('the compact form names a timeout, a lost session and a Python error', () => {
  const error = { name: 'ValueError', message: 'no', traceback: 'Traceback…\nValueError: no\n' }
  expect(render({ status: 'error', error }).text).toBe('Traceback…\nValueError: no')
  expect(render({ status: 'timeout' }).text).toMatch(/Timed out after 30 s.*kept/)
  expect(render({ status: 'timeout', stateLost: true }).text).toMatch(/variables are gone/)
  expect(render({ status: 'killed', stateLost: true, notes: ['Why.'] }).text).toMatch(/gone[\s\S]*Why/)
  expect(render({ status: 'interrupted' }).text).toMatch(/Interrupted/)
  for (const status of ['error', 'timeout', 'killed', 'interrupted'] as const)
    expect(render({ status }).isError).toBe(true)
})

it('structuredContent carries only the fields that are not empty', () => {
  expect(render({ stdout: 'x' }).structuredContent).toEqual({ status: 'ok', stdout: 'x' })
  const error = { name: 'E', message: '', traceback: 't' }
  expect(render({ status: 'error', error }).structuredContent).toEqual({
    status: 'error',
    error: { name: 'E', traceback: 't' },
  })
})

it('structuredContent is left out when both forms would exceed the budget, and when it is not wanted', () => {
  const stdout = 'several words '.repeat(100)
  expect(render({ stdout }, 'compact', 1_000).structuredContent).toBeDefined()
  expect(render({ stdout }, 'compact', 300).text).toBe(stdout.trimEnd())
  expect(render({ stdout }, 'compact', 300).structuredContent).toBeUndefined()
  const { structuredContent } = renderResult(result({ stdout }), {
    mode: 'json',
    outputTokens: 6_000,
  })
  expect(structuredContent).toBeUndefined()
})

it('a result with an image is not marked as an error for a client that turns errors into text', () => {
  const options = { mode: 'compact', outputTokens: 6_000 } as const
  const error = { name: 'E', message: 'm', traceback: 't' }
  const failed = result({ status: 'error', error })
  const withImage = result({ status: 'error', error, displays: [{ 'image/png': 'iVBORw==' }] })
  expect(renderResult(failed, { ...options, errorsAsJson: true }).isError).toBe(true)
  expect(renderResult(withImage, { ...options, errorsAsJson: true }).isError).toBe(false)
  expect(renderResult(failed, { ...options, errorsTwice: true }).isError).toBe(false)
  expect(renderResult(withImage, options).isError).toBe(true)
})

describe('json and toon', () => {
  const fields = { stdout: 'x\ny', value: { 'text/plain': '[1, 2]' }, notes: ['n'] }

  it('the json form is the structured content', () => {
    const { text, structuredContent } = render(fields, 'json')
    expect(JSON.parse(text)).toEqual(structuredContent)
  })

  it('the toon form decodes to the structured content and is never longer than JSON', () => {
    const { text, structuredContent } = render(fields, 'toon')
    expect(decodeToon(text)).toEqual(structuredContent)
    expect(text.length).toBeLessThanOrEqual(JSON.stringify(structuredContent).length)
  })

  it('the toon form writes each value in the shorter way: tables as TOON, nested ones as JSON', () => {
    const bundle = (json: unknown, plain = 'a repr') => ({ 'text/plain': plain, 'application/json': json })
    const table = Array.from({ length: 50 }, (_, id) => ({ id, name: `n${id}`, active: true }))
    const nested = Array.from({ length: 20 }, (_, id) => ({ id, tags: [{ a: [1, [2]] }, { b: {} }] }))
    const { text, structuredContent } = render({ value: bundle(table), displays: [bundle(nested, 'another')] }, 'toon')
    expect(decodeToon(text)).toEqual(structuredContent)
    expect(structuredContent).toMatchObject({ value: table, displays: [JSON.stringify(nested)] })
    expect(text).toContain('{id,name,active}')
    expect(countTokens(text)).toBeLessThan(0.9 * countTokens(JSON.stringify({ table, nested })))
    expect(render({ value: bundle(table) }, 'compact').text).toBe('a repr')
  })
})

const kept = { cell: 3, outputUri: 'sandbridge://output/s/3' }
const tokensOf = ({ content, structuredContent }: RenderedResult) =>
  countTokens(content.map((block) => (block.type === 'text' ? block.text : '')).join('\n')) +
  (structuredContent ? countTokens(JSON.stringify(structuredContent)) : 0)

it('the budget leaves a result that fits untouched', () => {
  expect(render({ ...kept, stdout: 'short' }, 'compact', 500).text).toBe('short')
})

it('a result over the budget keeps its head and tail, and says what is missing and how to get it', () => {
  const stdout = `BEGIN\n${'some words on a line\n'.repeat(10_000)}END`
  const { text } = render({ ...kept, stdout }, 'compact', 500)
  const [, from, to] = /runtime\.output\(3\)\[(\d+):(\d+)\]/.exec(text)!.map(Number)
  const [head, tail] = text.split(/\n\[sandbridge: [\d,]+ of 210,009 characters left out: .*\]\n…?/)
  expect(head).toBe(stdout.slice(0, from).trimEnd())
  expect(tail).toBe(
    `${stdout.slice(to)}\n[sandbridge: Truncated. Read more with print(runtime.output(3)[a:b]) or print(runtime.grep(3, r"pattern")); resource: sandbridge://output/s/3]`,
  )
  expect(head).toMatch(/^BEGIN[^]*line$/)
})

it('positions in a cut result count as Python counts, in the kept text', () => {
  const fields = { ...kept, stdout: 'first\n', stderr: '🚀 lift-off\n'.repeat(20_000), value: { 'text/plain': '7' } }
  const { text } = render(fields, 'compact', 500)
  const [, from, to] = /output\(3\)\[(\d+):(\d+)\]/.exec(text)!.map(Number)
  const whole = Array.from(joinParts(result(fields).parts))
  const [head, tail] = text.split(/\n\[sandbridge: .*\]\n…?/)
  expect(head).toBe(whole.slice(0, from).join('').trimEnd())
  expect(tail!.startsWith(whole.slice(to).join(''))).toBe(true)
})

it.each([
  ['names in another script', '報'.repeat(60), 6_000],
  ['long names', 'quarterly-report-of-the-northern-region-final', 1_500],
  ['names so long that none has room', '報'.repeat(300), 1_500],
])('links to what a cell saved have a share of the budget, and leave the text alone: %s', (_, name, outputTokens) => {
  const artifacts = Array.from({ length: 50 }, (_gone, index) => ({
    name: `${name}${index}`,
    version: 1,
    sizeBytes: 2,
    contentType: 'text/plain',
    sha256: '',
    createdAt: '',
    uri: `sandbridge://artifacts/${encodeURIComponent(name)}${index}`,
  }))
  for (const mode of ['compact', 'toon', 'json'] as const) {
    const rendered = render({ ...kept, stdout: 'the answer\n', artifacts }, mode, outputTokens)
    const links = rendered.content.filter((block) => block.type === 'resource_link')
    expect(rendered.text).toContain('the answer')
    expect(rendered.text).toContain(
      `${50 - links.length} ${links.length > 0 ? 'more ' : ''}artifacts were saved: print(`,
    )
    expect(countTokens(JSON.stringify(links))).toBeLessThanOrEqual(outputTokens * 0.25 * 1.1)
    expect(tokensOf(rendered) + countTokens(JSON.stringify(links))).toBeLessThanOrEqual(outputTokens * 1.1)
  }
  // If all links fit, all are included, without a note.
  const few = render({ stdout: 'x', artifacts: artifacts.slice(0, 1) }, 'compact', 20_000)
  expect(few.content.map((block) => block.type)).toEqual(['text', 'resource_link'])
  expect(few.text).toBe('x')
})

it('a result over the budget shows its short parts whole beside a long one', () => {
  const error = { name: 'ValueError', message: 'm', traceback: 'Traceback\n  Cell 1, line 2\nValueError: m' }
  const { text } = render(
    { ...kept, status: 'error', stdout: 'x y '.repeat(100_000), stderr: 'warned', error },
    'compact',
    500,
  )
  expect(text).toContain(error.traceback)
  expect(text).toContain('[stderr]\nwarned')
})

it.each(['compact', 'toon', 'json'] as const)(
  'the budget holds for all of a %s result, whatever a cell produces',
  (mode) => {
    // Each exceeds the larger budget.
    const texts = [
      'plain words of a text\n'.repeat(1_000),
      '"quoted\t\\ text"\n'.repeat(1_000),
      'αβγ漢字🚀'.repeat(1_000),
      'x'.repeat(50_000),
      ' '.repeat(200_000),
      '=-'.repeat(20_000),
      '\u0001'.repeat(5_000),
    ]
    for (const text of texts) {
      const everything = {
        ...kept,
        stdout: text,
        stderr: `e${text}`,
        value: { 'text/plain': `v${text}`, 'application/json': [text] },
        displays: Array.from({ length: 12 }, (_, index) => ({ 'text/plain': `${index}${text}` })),
        error: { name: `N${text}`, message: `m${text}`, traceback: `t${text}` },
        notes: Array.from({ length: 12 }, (_, index) => `${index}${text}`),
        status: 'error' as const,
      }
      for (const fields of [everything, { ...kept, stdout: text }, { ...kept, displays: [everything.value] }]) {
        const whole = result(fields)
        for (const outputTokens of [100, 2_000]) {
          const rendered = renderResult(whole, { mode, outputTokens })
          expect(tokensOf(rendered)).toBeLessThanOrEqual(outputTokens * 1.1)
        }
      }
    }
  },
)

it('a result that is printed and is also the value is shown once', () => {
  expect(render({ stdout: 'same\n', value: { 'text/plain': 'same' } }).text).toBe('same')
  expect(render({ displays: [{ 'text/plain': 'a' }, { 'text/plain': 'a' }, { 'text/plain': 'b' }] }).text).toBe('a\nb')
  expect(render({ stdout: 'a\na\n' }).text).toBe('a\na')
  const value = { 'text/plain': "'a text with some words'" }
  expect(render({ stdout: 'hello\na text with some words\n', value }).text).toBe('hello\na text with some words')
  expect(render({ stdout: 'hello\n', value }).text).toBe("hello\n'a text with some words'")
  expect(render({ stderr: 'a text with some words\n', value }).text).toContain(value['text/plain'])
})

it('a result has no colours, and a progress bar in its last state', () => {
  expect(render({ stdout: '\x1b[31mred\x1b[0m', stderr: '\r10%\r100%\n' }).text).toBe('red\n[stderr]\n100%')
})

describe('the handle of a new session', () => {
  const session = { handle: 'h4nDl3-0f-24-ch4r4ct3r5', keeps: 'these variables' }
  const flood = Array.from({ length: 100 }, (_, index) => ({ 'text/plain': `${index} ${'some words, '.repeat(20)}` }))
  const contents: Partial<CellResult>[] = [{}, { stdout: 'x y z '.repeat(5_000) }, { displays: flood }]

  it.each(contents)('the session handle is in the text and in the data, whole, and within the budget: %#', (extra) => {
    for (const outputTokens of [100, 600]) {
      for (const mode of ['compact', 'toon', 'json'] as const) {
        const rendered = renderResult(result(extra), { mode, outputTokens, session })
        const [text] = rendered.content.flatMap((block) => (block.type === 'text' ? [block.text] : []))
        expect(text).toContain(session.handle)
        expect(countTokens(text!)).toBeLessThanOrEqual(outputTokens * 1.1)
        if (rendered.structuredContent) expect(rendered.structuredContent['session']).toBe(session.handle)
      }
    }
  })

  it('the session handle is explained in words, also to a client that gets text only', () => {
    const { content, structuredContent } = renderResult(result({ stdout: 'hello' }), {
      mode: 'compact',
      outputTokens: 6_000,
      session,
    })
    expect(content).toEqual([
      { type: 'text', text: `hello\n[sandbridge: To keep these variables, pass session="${session.handle}".]` },
    ])
    expect(structuredContent).toBeUndefined()
  })
})
