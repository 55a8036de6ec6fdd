import { expect, it } from 'vitest'
import { requestIn } from './request.ts'

const KNOWN = new Set(['notion', 'github', 's3', 'invoice'])
const asked = (query: string): string =>
  requestIn(query, (word) => KNOWN.has(word))
    .replace(/\s+/g, ' ')
    .trim()

it.each([
  [
    'Could you please send the invoice for March to maria@example.com tomorrow at 4pm?',
    ['send', 'invoice'],
    ['maria', 'March', '4', 'tomorrow', 'please', 'you'],
  ],
  [
    'Hi, my boss wants to know how many tickets Lena Fischer closed last week',
    ['tickets', 'closed'],
    ['boss', 'Lena', 'Fischer', 'week', 'Hi'],
  ],
  [
    "I'd like to book a table for twelve days in Notion, thanks",
    ['book', 'table', 'Notion'],
    ['like', 'twelve', 'thanks'],
  ],
  [
    'Please move the report.pdf for ABC-123 into the s3 archive folder',
    ['move', 'pdf', 's3', 'archive', 'folder'],
    ['ABC', '123', 'report'],
  ],
  ['Please set the price of the blue lamp to $49.90 so that we sell more of them', ['price', 'lamp'], ['49', 'sell']],
])('the query %j searches for %j, not for %j', (query, kept, taken) => {
  const words = asked(query).split(/[^\w]+/)
  expect(words).toEqual(expect.arrayContaining(kept))
  for (const word of taken) expect(words).not.toContain(word)
})

it.each(['list events of May', 'create 3 issues', 'send me a message tomorrow', 'please'])(
  'the query %j is left as it is',
  (query) => {
    expect(requestIn(query, () => false)).toBe(query)
  },
)

it('a query about the present searches for what is current', () => {
  expect(asked('what are they playing at the moment')).toContain('playing current')
  expect(asked('which tabs are open right now?')).toContain('open current')
  const cut = 'cut the video at the moment when the bell rings'
  expect(asked(cut)).toContain('moment when')
})

it('a query of nothing but filler words is left as it is', () => {
  const query = 'Hi there, could you please, thank you very much'
  expect(requestIn(query, () => false)).toBe(query)
})

it('long hostile queries take little time', () => {
  for (const part of ['so i ', 'a"', "'a ", 'on the last ', 'Ms ', '1-1.', 'half an ', 'my boss wants ']) {
    expect(typeof requestIn(part.repeat(2000 / part.length), () => false)).toBe('string')
  }
})
