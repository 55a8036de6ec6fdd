import { expect, it } from 'vitest'
import { contentTypeOf } from './content-type.ts'

const PNG = Buffer.from('89504e470d0a1a0a0000', 'hex')
const ZIP = Buffer.from('504b030414', 'hex')

it.each([
  ['plot.png', PNG, 'image/png'],
  ['plot', PNG, 'image/png'],
  ['plot.txt', PNG, 'image/png'],
  ['table.csv', Buffer.from('a,b\n1,2\n'), 'text/csv'],
  ['TABLE.CSV', Buffer.from('a,b\n'), 'text/csv'],
  ['table.csv', Buffer.from([0xff, 0xfe, 0]), 'application/octet-stream'],
  ['fake.png', Buffer.from('<script>'), 'text/plain'],
  ['book.xlsx', ZIP, 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'],
  ['book.xlsx', Buffer.from('no zip'), 'text/plain'],
  ['data', Buffer.from('{"a": 1}'), 'application/json'],
  ['data', Buffer.from('{not json'), 'text/plain'],
  ['data', Buffer.from(''), 'text/plain'],
  ['data.bin', Buffer.from([0, 1, 2]), 'application/octet-stream'],
  ['x.constructor', Buffer.from('a'), 'text/plain'],
])('the content type of %s is found', (name, data, type) => {
  expect(contentTypeOf(name, data)).toBe(type)
})
