import { expect, it } from 'vitest'
import { needsIn } from './wordings.ts'

it.each([
  ['create issue, send message, list events', ['create issue', 'send message', 'list events']],
  ['create an issue and send a message and list events', ['create an issue', 'send a message', 'list events']],
  ['create issue; send message', ['create issue', 'send message']],
  ['create issue / send message/list events', ['create issue', 'send message', 'list events']],
  ['- create issue\n- send message\n- get the weather', ['create issue', 'send message', 'get the weather']],
  ['1. create issue\r\n2. send message', ['create issue', 'send message']],
  ['create issue; screenshot; send message', ['create issue', 'screenshot', 'send message']],
  ['weather, translation, send message', ['weather', 'translation', 'send message']],
  ['create issue with title and body, send message', ['create issue with title and body', 'send message']],
  ['profit and loss, avoid tolls and ferries', ['profit and loss', 'avoid tolls and ferries']],
])('the text %j lists the needs %j', (text, needs) => {
  expect(needsIn(text)).toEqual(needs)
})

it.each([
  'create issue',
  'search and replace text in a file',
  'read/write files',
  'convert km/h to mph',
  'profit and loss',
  'create a contact with name, email and phone',
  'list the files of a folder, with sizes',
  'find the latest run and cancel it',
  'Hi, my train leaves at 8:15, could you look up the next one?',
  '',
  ' , and ; ',
])('the text %j is one need', (text) => {
  expect(needsIn(text)).toEqual([text])
})

it('a long text of separators is read in time', () => {
  for (const text of [', '.repeat(100_000), ' and'.repeat(100_000), ' '.repeat(200_000), '\n- '.repeat(100_000)])
    needsIn(text)
})
