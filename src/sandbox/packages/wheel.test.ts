import { describe, expect, it } from 'vitest'
import { makeWheel, makeZip } from '../../../test/support/make-wheel.ts'
import { isPureWheel, unpackWheel } from './wheel.ts'
import { readZip } from '../../storage/zip-archive.ts'

const unpack = (options?: Parameters<typeof makeWheel>[0]) => {
  return unpackWheel(makeWheel(options).data).map((file) => file.path)
}

describe('a wheel', () => {
  it.each([true, false])('is unpacked (stored: %s)', (stored) => {
    const files = unpackWheel(makeWheel({ stored }).data)
    expect(files.find((file) => file.path === 'tinypkg/answer.py')?.data.toString()).toBe('ANSWER = 42\n')
    expect(files.map((file) => file.path)).toContain('tinypkg-1.0.dist-info/METADATA')
  })

  it('has its library parts put in place, and no scripts', () => {
    const files = { 'p-1.data/purelib/p/a.py': '1', 'p-1.data/scripts/run': '2', 'p/b, c.py': '3' }
    const record = (text: string) => text.replace('p/b, c.py,', '"p/b, c.py",')
    expect(unpack({ name: 'p', version: '1', files, record })).toEqual(expect.arrayContaining(['p/a.py', 'p/b, c.py']))
    expect(unpack({ name: 'p', version: '1', files, record }).join()).not.toMatch(/scripts/)
  })

  it.each(['../evil.py', 'a/../../evil.py', '/etc/evil', 'a\\..\\evil', 'C:evil', 'a//b', './a'])(
    'may not hold %s',
    (path) => {
      expect(() => unpack({ files: { [path]: 'x' } })).toThrow(/outside its folder/)
    },
  )

  it('is refused when a file is not the one that was recorded', () => {
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
  ])('%s is pure: %s', (name, pure) => {
    expect(isPureWheel(name)).toBe(pure)
  })
})

describe('an archive', () => {
  const archive = makeZip({ 'a.txt': 'x'.repeat(1000) })

  it('is read, with a comment behind it, too', () => {
    expect(readZip(archive, 1000)[0]!.data.toString()).toBe('x'.repeat(1000))
    expect(readZip(Buffer.concat([archive, Buffer.from('comment')]), 1000)).toHaveLength(1)
  })

  it('may not grow beyond the limit, whatever it claims', () => {
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
  ])('%s is an error, not a crash', (_, data) => {
    expect(() => readZip(data, 1 << 20)).toThrow(/zip archive|damaged|should be|packed/)
  })
})

function changed(data: Buffer, at: number): Buffer {
  const copy = Buffer.from(data)
  copy[at]! ^= 0xff
  return copy
}
