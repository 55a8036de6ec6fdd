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
  ['a choice of two lines', form('Pick', 'a\nb')],
  ['a name', form('Pick', 'a', 'x\u001b[1mY')],
])('a form is not shown when %s looks like something else than it is', (_what, schema) => {
  expect(cleanForm(schema)).toBe('unseen')
})
