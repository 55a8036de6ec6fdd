import { describe, expect, it } from 'vitest'
import { makeWheel, makeZip } from '@sandbridge/core/test/support/servers/make-wheel.ts'
import { isPureWheel, refuseAddresses, unpackWheel } from './wheel.ts'
import { type ZipEntry, zipEntries } from '@sandbridge/shared/unpack/zip-archive.ts'

const unpack = async (options?: Parameters<typeof makeWheel>[0]) =>
  (await unpackWheel(makeWheel(options).data)).map((file) => file.path)

/** All files of an archive. */
async function readZip(archive: Buffer, maxBytes: number): Promise<ZipEntry[]> {
  const entries: ZipEntry[] = []
  for await (const entry of zipEntries(archive, maxBytes)) entries.push(entry)
  return entries
}

it.each([true, false])('a wheel is unpacked (stored: %s)', async (stored) => {
  const files = await unpackWheel(makeWheel({ stored }).data)
  expect(files.find((file) => file.path === 'tinypkg/answer.py')?.data.toString()).toBe('ANSWER = 42\n')
  expect(files.map((file) => file.path)).toContain('tinypkg-1.0.dist-info/METADATA')
})

it('a wheel has its library parts installed, and no scripts', async () => {
  const files = { 'p-1.data/purelib/p/a.py': '1', 'p-1.data/scripts/run': '2', 'p/b, c.py': '3' }
  const record = (text: string) => text.replace('p/b, c.py,', '"p/b, c.py",')
  expect(await unpack({ name: 'p', version: '1', files, record })).toEqual(
    expect.arrayContaining(['p/a.py', 'p/b, c.py']),
  )
  expect((await unpack({ name: 'p', version: '1', files, record })).join()).not.toMatch(/scripts/)
})

it.each(['../evil.py', 'a/../../evil.py', '/etc/evil', 'a\\..\\evil', 'C:evil', 'a//b', './a'])(
  'a wheel is refused when it has %s',
  async (path) => {
    await expect(unpack({ files: { [path]: 'x' } })).rejects.toThrow(/outside its folder/)
  },
)

it.each(['evil @ https://host.example/evil.tar.gz', 'evil@file:///evil', 'evil[a]\n  @ git+https://host.example/evil'])(
  'a wheel is refused when it needs a package by its address: %s',
  async (address) => {
    const { data } = makeWheel({ requires: ['numpy', address] })
    await expect(refuseAddresses(data)).rejects.toThrow(/needs a package by its address \(Requires-Dist: evil/)
    await refuseAddresses(makeWheel({ requires: ['numpy>=2; extra == "a@b"'] }).data)
  },
)

it('a wheel is refused when a file differs from its record', async () => {
  await expect(unpack({ record: (text) => text.replace(/sha256=../, 'sha256=AA') })).rejects.toThrow(
    /does not match its RECORD/,
  )
  await expect(unpack({ record: (text) => text.replace(/^.*answer.*\n/m, '') })).rejects.toThrow(
    /answer\.py does not match its RECORD/,
  )
  await expect(unpackWheel(makeZip({ 'a.py': '1' }))).rejects.toThrow(/no RECORD/)
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

  it('a zip archive is read, but not with bytes behind it', async () => {
    expect((await readZip(archive, 1000))[0]!.data.toString()).toBe('x'.repeat(1000))
    await expect(readZip(Buffer.concat([archive, Buffer.from('more')]), 1000)).rejects.toThrow(/not a zip archive/)
  })

  it('a zip archive cannot grow beyond the limit, whatever size it claims', async () => {
    await expect(readZip(archive, 999)).rejects.toThrow(/more than 0 MiB/)
    const lying = Buffer.from(archive)
    lying.writeUInt32LE(5, lying.indexOf('PK\u0001\u0002') + 24)
    await expect(readZip(lying, 999)).rejects.toThrow(/damaged/)
  })

  it.each([
    ['nothing', Buffer.alloc(0)],
    ['text', Buffer.from('no archive at all, but long enough to be one')],
    ['half of one', archive.subarray(0, archive.length / 2)],
    ['one with a changed byte', changed(archive, 40)],
    ['one whose list points elsewhere', changed(archive, archive.length - 4)],
  ])('a broken zip archive is an error, not a crash: %s', async (_, data) => {
    await expect(readZip(data, 1 << 20)).rejects.toThrow(/zip archive|damaged/)
  })
})

function changed(data: Buffer, at: number): Buffer {
  const copy = Buffer.from(data)
  copy[at]! ^= 0xff
  return copy
}
