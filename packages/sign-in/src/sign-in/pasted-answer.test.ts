import { expect, it } from 'vitest'
import { PastedAnswer } from './pasted-answer.ts'

const ADDRESS = 'http://127.0.0.1:5000/callback?code=c0de&state=st4te&iss=https%3A%2F%2Fa.example'

it.each<[string, string[]]>([
  ['whole', [ADDRESS]],
  ['with spaces around', [`  ${ADDRESS}\t`]],
  ['in quotes', [`"${ADDRESS}"`]],
  ['in typographic brackets', [`<${ADDRESS}>,`]],
  ['without its scheme', [ADDRESS.slice(7)]],
  ['from ? on', [ADDRESS.slice(ADDRESS.indexOf('?'))]],
  ['from the code on', [ADDRESS.slice(ADDRESS.indexOf('code'))]],
  ['in two lines', [ADDRESS.slice(0, 40), ADDRESS.slice(40)]],
  [
    'in four lines after a slip',
    ['hm', ADDRESS.slice(0, 20), ADDRESS.slice(20, 36), ADDRESS.slice(36, 50), ADDRESS.slice(50)],
  ],
  ['as a terminal marks it', [`\u001B[200~${ADDRESS}\u001B[201~`]],
  ['as HTML', [ADDRESS.replaceAll('&', '&amp;')]],
  ['with a fragment', [`${ADDRESS}#_=_`]],
  ['after that of another login', [ADDRESS.replace('st4te', 'other'), ADDRESS]],
])('an address that is pasted %s is the answer', (_how, lines) => {
  const pasted = new PastedAnswer('st4te')
  const found = lines.map((line) => pasted.add(line))
  expect(found.slice(0, -1).every((one) => typeof one === 'string')).toBe(true)
  const last = found.at(-1) as URLSearchParams
  expect([last.get('code'), last.get('state')]).toEqual(['c0de', 'st4te'])
})

it.each([
  ['', /Nothing/],
  ['hm', /not the whole/],
  ['c0de', /not the whole/],
  ['http://127.0.0.1/callback?code=c0de', /The address is incomplete/],
  [ADDRESS.replace('st4te', 'other'), /another login/],
])('the line %j is answered with what is wrong', (line, words) => {
  expect(new PastedAnswer('st4te').add(line)).toMatch(words)
})
