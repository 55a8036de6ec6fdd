import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, promises, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { beforeEach, expect, it, onTestFinished, vi } from 'vitest'
import { ARTIFACT_LIMITS, ArtifactStore, artifactUri, parseArtifactUri } from './artifact-store.ts'
import { unwritable } from '../../../core/src/util/stores/files/versioned-folders.ts'
import { fileStore } from '../../../core/src/util/stores/open-stores.ts'
import { needsLinux, needsPosix, needsProgram, needsRoot, skip } from '@sandbridge/core/test/support/suite/needs.ts'
import { newFolder } from '@sandbridge/core/test/support/machine/new-folder.ts'

let folder: string
let store: ArtifactStore
beforeEach(() => {
  folder = newFolder()
  store = new ArtifactStore(fileStore(path.join(folder, '.sandbridge')))
})

const bytes = (text: string) => Buffer.from(text)
const kept = () => path.join(folder, '.sandbridge/artifacts')

it('an artifact has versions with their size, hash and type', async () => {
  expect(await store.save('a.csv', bytes('x'))).toMatchObject({ version: 1, sizeBytes: 1, contentType: 'text/csv' })
  const second = await store.save('a.csv', bytes('xy'))
  expect(second.version).toBe(2)
  expect(second.sha256).toBe('769a4e6d0003189c7e96c5d9b7e810a0d11c3a12832527ec94b0f86d277f51ca')
  expect((await store.read('a.csv')).data.toString()).toBe('xy')
  expect((await store.read('a.csv', 1)).data.toString()).toBe('x')
  expect(await store.list()).toMatchObject([{ name: 'a.csv', version: 2 }])
  expect(await store.versions()).toHaveLength(2)
})

it('an artifact whose bytes were changed on disk is refused, also in pieces, and its other versions are read', async () => {
  await store.save('a.txt', bytes('first'))
  await store.save('a.txt', bytes('second'))
  writeFileSync(path.join(kept(), 'a.txt/2/data'), 'sEcond')
  await expect(store.read('a.txt')).rejects.toMatchObject({ code: 'STATE_DAMAGED' })
  await expect(store.read('a.txt', 2, { offset: 0, length: 3 })).rejects.toThrow(/Version 2 of 'a.txt' was changed/)
  expect((await store.read('a.txt', 1, { offset: 0, length: 3 })).data.toString()).toBe('fir')
})

it('an artifact whose description is damaged is described by its bytes', async () => {
  const { sha256 } = await store.save('a.csv', bytes('x,y'))
  writeFileSync(path.join(kept(), 'a.csv/1/artifact.json'), '{')
  expect(await store.list()).toMatchObject([
    { name: 'a.csv', version: 1, sizeBytes: 3, sha256, contentType: 'text/csv' },
  ])
  expect((await store.read('a.csv')).data.toString()).toBe('x,y')
})

it('an artifact that is saved again with the same bytes gets no new version', async () => {
  await store.save('a', bytes('x'))
  expect(await store.save('a', bytes('x'))).toMatchObject({ version: 1 })
  await store.save('a', bytes('y'))
  expect(await store.save('a', bytes('x'))).toMatchObject({ version: 3 })
})

it('an artifact is saved on Windows while a virus scanner reads its folder', async () => {
  const { platform } = process
  Object.defineProperty(process, 'platform', { value: 'win32' })
  onTestFinished(() => void Object.defineProperty(process, 'platform', { value: platform }))
  const denied = Object.assign(new Error('denied'), { code: 'EPERM' })
  const rename = vi.spyOn(promises, 'rename').mockRejectedValueOnce(denied)
  onTestFinished(() => rename.mockRestore())
  expect(await store.save('a', bytes('x'))).toMatchObject({ version: 1 })
})

it('artifacts can be read by their owner only', async () => {
  needsPosix('Windows has no modes')
  await store.save('a', bytes('x'))
  expect(statSync(path.join(kept(), 'a')).mode & 0o777).toBe(0o700)
  expect(statSync(path.join(kept(), 'a/1/data')).mode & 0o777).toBe(0o600)
})

it('an artifact gets a version of its own for each of many saves at once, in two bridges', async () => {
  const other = new ArtifactStore(fileStore(path.join(folder, '.sandbridge')))
  const saved = await Promise.all(
    Array.from({ length: 20 }, (_, index) => (index % 2 ? store : other).save('a', bytes(`${index}`))),
  )
  expect(saved.map((artifact) => artifact.version).toSorted((a, b) => a - b)).toEqual(
    Array.from({ length: 20 }, (_, index) => index + 1),
  )
  for (const { version, sha256 } of saved) expect((await store.find('a', version)).sha256).toBe(sha256)
})

it('two bridges that save at once stay within the limit of versions together', async () => {
  const limits = { ...ARTIFACT_LIMITS, versionCount: 5 }
  const bridges = [1, 2, 3].map(() => new ArtifactStore(fileStore(path.join(folder, '.sandbridge')), limits))
  const saves = Array.from({ length: 12 }, (_, index) => bridges[index % 3]!.save(`a${index}`, bytes('x')))
  const done = await Promise.allSettled(saves)
  expect(done.filter(({ status }) => status === 'fulfilled')).toHaveLength(5)
  expect(await store.versions()).toHaveLength(5)
})

it('an artifact over a limit is refused with the limit, and the kept ones stay', async () => {
  const small = new ArtifactStore(fileStore(path.join(folder, '.sandbridge')), {
    artifactBytes: 2 << 20,
    totalBytes: 3 << 20,
    versionCount: 3,
  })
  await expect(small.save('a', Buffer.alloc((2 << 20) + 1))).rejects.toThrow(/limit of an artifact is 2 MiB/)
  await small.save('a', Buffer.alloc(2 << 20))
  await expect(small.save('b', Buffer.alloc(2 << 20))).rejects.toThrow(/all artifacts use 2 MiB of 3 MiB/)
  await small.save('a', bytes('1'))
  await small.save('a', bytes('2'))
  await expect(small.save('a', bytes('3'))).rejects.toMatchObject({
    code: 'STATE_REFUSED',
    hint: expect.stringContaining('artifacts --remove'),
  })
  expect((await small.versions()).map((artifact) => artifact.sizeBytes)).toEqual([2 << 20, 1, 1])
  // An older version of the bridge may have kept more than the limit.
  const smaller = new ArtifactStore(fileStore(path.join(folder, '.sandbridge')), {
    ...ARTIFACT_LIMITS,
    versionCount: 2,
  })
  await expect(smaller.save('c', bytes('4'))).rejects.toThrow(/the limit of 2 versions/)
})

it('artifacts that are saved at once are held to the limits', async () => {
  const small = new ArtifactStore(fileStore(path.join(folder, '.sandbridge')), {
    ...ARTIFACT_LIMITS,
    versionCount: 5,
  })
  const results = await Promise.allSettled(
    Array.from({ length: 50 }, (_, index) => small.save(`a${index}`, bytes('x'))),
  )
  expect(results.filter((result) => result.status === 'fulfilled')).toHaveLength(5)
})

it('an artifact is refused when its name differs in case only, which some file systems treat as the same', async () => {
  await store.save('Report', bytes('x'))
  await expect(store.save('report', bytes('y'))).rejects.toThrow(/differs .* only in case/)
})

it('the error for an unknown artifact or version says which there are', async () => {
  await store.save('a', bytes('x'))
  await expect(store.read('b')).rejects.toMatchObject({ code: 'STATE_NOT_FOUND', hint: 'There are: a' })
  await expect(store.read('a', 7)).rejects.toMatchObject({
    message: "Unknown version 7 of the artifact 'a'",
    hint: 'Its versions: 1',
  })
  await expect(store.read('../a')).rejects.toMatchObject({ code: 'STATE_REFUSED' })
})

it('damaged and foreign files are left out of the artifacts', async () => {
  await store.save('good', bytes('x'))
  mkdirSync(path.join(kept(), 'bad/1'), { recursive: true })
  writeFileSync(path.join(kept(), 'bad/1/artifact.json'), '{')
  mkdirSync(path.join(kept(), 'a:b/1'), { recursive: true })
  writeFileSync(path.join(kept(), 'stray'), 'x')
  mkdirSync(path.join(kept(), 'half/.new-1'), { recursive: true })
  expect((await store.list()).map((artifact) => artifact.name)).toEqual(['good'])
  expect(await store.save('bad', bytes('y'))).toMatchObject({ version: 2 })
})

it('an artifact is removed with all its versions', async () => {
  await store.save('a', bytes('x'))
  await store.remove('a')
  expect(await store.list()).toEqual([])
  await expect(store.remove('a')).rejects.toMatchObject({ code: 'STATE_NOT_FOUND' })
  await expect(store.remove('..')).rejects.toMatchObject({ code: 'STATE_REFUSED' })
})

it('a part from the middle of an artifact can be read', async () => {
  await store.save('a', bytes('0123456789'))
  const piece = async (offset: number, length: number) => (await store.read('a', 1, { offset, length })).data.toString()
  expect(await piece(2, 3)).toBe('234')
  expect(await piece(8, 9)).toBe('89')
  expect(await piece(99, 1)).toBe('')
})

it('more versions of artifacts are listed than files may be open', async () => {
  needsLinux('a running process is limited')
  needsProgram('prlimit')
  const limit = (count: string) =>
    spawnSync('prlimit', ['--pid', String(process.pid), `--nofile=${count}`]).status === 0
  for (let version = 0; version < 40; version += 1) await store.save('a', bytes(String(version)))
  expect(limit(`${readdirSync('/proc/self/fd').length + 12}:`)).toBe(true)
  try {
    expect((await store.versions()).length).toBe(40)
  } finally {
    limit('1024:')
  }
})

it('a full disk is an error that says so, and keeps earlier artifacts', async () => {
  needsLinux('a small disk in memory is mounted')
  needsRoot('a disk is mounted')
  const disk = newFolder()
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=256k', 'tmpfs', disk])
  if (mounted.status !== 0) skip('this machine does not let its root mount a disk')
  onTestFinished(() => {
    spawnSync('umount', [disk])
    rmSync(disk, { recursive: true, force: true })
  })
  const full = new ArtifactStore(fileStore(path.join(disk, '.sandbridge')))
  await full.save('a', bytes('first'))
  const failure = full.save('a', Buffer.alloc(1 << 20, 1))
  await expect(failure).rejects.toMatchObject({
    code: 'STATE_UNWRITABLE',
    message: expect.stringContaining('the disk is full'),
  })
  await expect(failure).rejects.not.toThrow(disk)
  await expect(full.save('b', Buffer.alloc(1 << 20, 1))).rejects.toThrow(/disk is full/)
  expect((await full.read('a')).data.toString()).toBe('first')
  expect(readdirSync(path.join(disk, '.sandbridge/artifacts'))).toEqual(['a'])
  expect(readdirSync(path.join(disk, '.sandbridge/artifacts/a'))).toEqual(['1'])
})

it.each([
  ['ENOSPC', 'the disk is full'],
  ['EDQUOT', 'the disk quota is used up'],
  ['EROFS', 'the disk is read-only'],
  ['EACCES', 'the state folder cannot be written (EACCES)'],
])('the disk error %s is explained in words', (code, words) => {
  expect(unwritable(Object.assign(new Error('/home/secret'), { code }), 'an artifact')).toMatchObject({
    code: 'STATE_UNWRITABLE',
    message: `An artifact could not be saved: ${words}. Data that was saved before has not changed`,
  })
})

it('a folder that cannot be written is reported', async () => {
  needsPosix('Windows has no modes')
  if (process.getuid?.() === 0) skip('only an ordinary user meets a folder it may not write')
  chmodSync(folder, 0o500)
  await expect(store.save('a', bytes('x'))).rejects.toMatchObject({ code: 'STATE_UNWRITABLE' })
})

it('an artifact address names an artifact, or is refused', () => {
  expect(parseArtifactUri(artifactUri('März #1.csv', 3))).toEqual({ name: 'März #1.csv', version: 3 })
  expect(parseArtifactUri(artifactUri('a'))).toEqual({ name: 'a' })
  for (const uri of [
    'file:///etc/passwd',
    'sandbridge://artifact/',
    'sandbridge://artifact/a/b',
    'sandbridge://artifact/%',
    'sandbridge://artifact/a/0',
  ])
    expect(parseArtifactUri(uri)).toBeUndefined()
  // It decodes to a name that the store then refuses.
  expect(parseArtifactUri('sandbridge://artifact/..%2f..')).toEqual({ name: '../..' })
})
