import { expect, it } from 'vitest'
import { textsBeside } from './tool-result.ts'

const rows = { rows: [{ id: 1, name: 'a', note: null }], total: 3.5 }
const longOtherwise = JSON.stringify({
  rows: Array.from({ length: 20_000 }, (_, id) => ({ name: `row ${id}`, id })),
})
const long = { rows: Array.from({ length: 20_000 }, (_, id) => ({ id, name: `row ${id}` })) }

it.each<[string, unknown, string[]]>([
  ['JSON', rows, [JSON.stringify(rows)]],
  ['JSON with other spaces', rows, [JSON.stringify(rows, undefined, 2)]],
  ['JSON with other keys first', { a: 1, b: 2 }, ['{"b":2,"a":1}']],
  ['JSON without what is null', rows, ['{"rows":[{"id":1,"name":"a"}],"total":3.5}']],
  ['JSON in a fence', rows, [`\`\`\`json\n${JSON.stringify(rows)}\n\`\`\``]],
  ['JSON behind a byte order mark', rows, [`\u{FEFF}${JSON.stringify(rows)}`]],
  ['a Python value', { a: [true, null] }, ["{'a': [True, None]}"]],
  ['what is in a box', { result: 'hello' }, ['hello\n']],
  ['a number in a box', { result: 42 }, ['42']],
  ['a truth value in a box', { result: true }, ['True']],
  ['each item of a list in a box', { result: [{ a: 1 }, 'b'] }, ['{"a":1}', 'b']],
  ['one field', { text: 'all of it', size: 9 }, ['all of it']],
  ['a long JSON with other spaces', long, [JSON.stringify(long, undefined, 1)]],
  ['a long JSON with other keys first', long, [longOtherwise]],
  ['None of Python in a box', { result: null }, ['None']],
  ['nothing', rows, ['', ' \n']],
])('a text that repeats the data is left out: %s', (_what, data, texts) => {
  expect(textsBeside(data, texts)).toEqual([])
})

it.each<[string, unknown, string[]]>([
  ['another statement', { status: 'ok' }, ['3 of 5 rows FAILED']],
  ['a statement of the same length as the data', { ok: true }, ['{"ok":fals']],
  ['other data', { a: 1 }, ['{"a":2}']],
  ['more data', { a: 1 }, ['{"a":1,"b":2}']],
  ['a list of another length', { a: [1, 2] }, ['{"a":[1]}']],
  ['a long text', long, [`${JSON.stringify(long)} and more`]],
  ['a repetition and a warning', { a: 1 }, ['{"a":1}', 'Warning: the index is old']],
])('a text that says something else is kept: %s', (_what, data, texts) => {
  expect(textsBeside(data, texts)).toEqual(texts)
})

it('a long text beside data of many fields does not keep the bridge busy', () => {
  const data = Object.fromEntries(Array.from({ length: 200 }, (_, at) => [`f${at}`, [at]]))
  const texts = ['some words '.repeat(1_000_000)]
  const start = process.cpuUsage()
  expect(textsBeside(data, texts)).toEqual(texts)
  expect(process.cpuUsage(start).user / 1000).toBeLessThan(1_000)
})

it('large integers of a text are compared exactly', () => {
  const [json, other] = ['{"id":18446744073709551615}', '{"id":18446744073709551614}']
  const data: unknown = JSON.parse(json)
  expect(textsBeside(data, [json, "{'id': 18446744073709551615}"], json)).toEqual([])
  expect(textsBeside(data, [other], json)).toEqual([other])
})
