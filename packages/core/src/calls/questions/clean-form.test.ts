import { expect, it } from 'vitest'
import { cleanForm } from './questions.ts'

const form = (words: string, value: string, name = 'choice') => ({
  type: 'object',
  properties: { [name]: { type: 'string', title: words, description: words, enum: [value], enumNames: [words] } },
  required: [name],
})

it('the texts of a form are cleaned, and nothing else of it is changed', () => {
  expect(cleanForm(form('\u001b[31mPick\u202e one\u200b', 'a b'))).toEqual(form('Pick one', 'a b'))
  expect(cleanForm(undefined)).toBeUndefined()
})

it.each([
  ['a choice', form('Pick', 'a\u202eb')],
  ['a choice with an empty Braille sign', form('Pick', 'a\u2800')],
  ['a choice with six marks on a letter', form('Pick', `a${'\u0301'.repeat(6)}`)],
  ['a choice of two lines', form('Pick', 'a\nb')],
  ['a name', form('Pick', 'a', 'x\u001b[1mY')],
])('a form is not shown when %s looks like something else than it is', (_what, schema) => {
  expect(cleanForm(schema)).toBe('unseen')
})

it('four marks on one letter stay in a form', () => {
  expect(cleanForm(form(`a${'\u0301'.repeat(6)}`, 'e\u0301'))).toEqual(form(`a${'\u0301'.repeat(4)}`, 'e\u0301'))
})
