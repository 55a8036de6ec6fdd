import { describe, expect, it } from 'vitest'
import { makeWheel, makeZip } from '../../../test/support/make-wheel.ts'
import { isPureWheel, unpackWheel } from './wheel.ts'
import { readZip } from '../../util/bytes/zip-archive.ts'

const unpack = (options?: Parameters<typeof makeWheel>[0]) => {
  return unpackWheel(makeWheel(options).data).map((file) => file.path)
}

it.each([true, false])('a wheel is unpacked (stored: %s)', (stored) => {
  const files = unpackWheel(makeWheel({ stored }).data)
  expect(files.find((file) => file.path === 'tinypkg/answer.py')?.data.toString()).toBe('ANSWER = 42\n')
  expect(files.map((file) => file.path)).toContain('tinypkg-1.0.dist-info/METADATA')
})

it('a wheel has its library parts installed, and no scripts', () => {
  const files = { 'p-1.data/purelib/p/a.py': '1', 'p-1.data/scripts/run': '2', 'p/b, c.py': '3' }
  const record = (text: string) => text.replace('p/b, c.py,', '"p/b, c.py",')
  expect(unpack({ name: 'p', version: '1', files, record })).toEqual(expect.arrayContaining(['p/a.py', 'p/b, c.py']))
  expect(unpack({ name: 'p', version: '1', files, record }).join()).not.toMatch(/scripts/)
})

it.each(['../evil.py', 'a/../../evil.py', '/etc/evil', 'a\\..\\evil', 'C:evil', 'a//b', './a'])(
  'a wheel is refused when it has %s',
  (path) => {
    expect(() => unpack({ files: { [path]: 'x' } })).toThrow(/outside its folder/)
  },
)

it('a wheel is refused when a file differs from its record', () => {
  expect(() => unpack({ record: (text) => text.replace(/sha256=../, 'sha256=AA') })).toThrow(
    /does not match its RECORD/,
  )
  expect(() => unpack({ record: (text) => text.replace(/^.*answer.*\n/m, '') })).toThrow(
    /answer\.py does not match its RECORD/,
  )
  expect(() => unpackWheel(makeZip({ 'a.py': '1' }))).toThrow(/no RECORD/)
})

it.each([
  ['tinypkg-1.0-py3-none-any.whl', true],
  ['tiny_pkg-1.0-1-py2.py3-none-any.whl', true],
  ['numpy-2.0-cp314-cp314-manylinux_2_28_x86_64.whl', false],
  ['old-1.0-py2-none-any.whl', false],
  ['tinypkg.zip', false],
])('the wheel %s is pure: %s', (name, pure) => {
  expect(isPureWheel(name)).toBe(pure)
})

describe('an archive', () => {
  const archive = makeZip({ 'a.txt': 'x'.repeat(1000) })

  it('a zip archive is read, also with a comment behind it', () => {
    expect(readZip(archive, 1000)[0]!.data.toString()).toBe('x'.repeat(1000))
    expect(readZip(Buffer.concat([archive, Buffer.from('comment')]), 1000)).toHaveLength(1)
  })

  it('a zip archive cannot grow beyond the limit, whatever size it claims', () => {
    expect(() => readZip(archive, 999)).toThrow(/more than 0 MiB/)
    const lying = Buffer.from(archive)
    lying.writeUInt32LE(5, lying.indexOf('PK\u0001\u0002') + 24)
    expect(() => readZip(lying, 999)).toThrow(/damaged/)
  })

  it.each([
    ['nothing', Buffer.alloc(0)],
    ['text', Buffer.from('no archive at all, but long enough to be one')],
    ['half of one', archive.subarray(0, archive.length / 2)],
    ['one with a changed byte', changed(archive, 40)],
    ['one whose list points elsewhere', changed(archive, archive.length - 4)],
  ])('a broken zip archive is an error, not a crash: %s', (_, data) => {
    expect(() => readZip(data, 1 << 20)).toThrow(/zip archive|damaged|should be|packed/)
  })
})

function changed(data: Buffer, at: number): Buffer {
  const copy = Buffer.from(data)
  copy[at]! ^= 0xff
  return copy
}
