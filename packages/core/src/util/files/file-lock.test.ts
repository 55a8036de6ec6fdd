import { promises } from 'node:fs'
import { mkdir, readdir, readFile, rm, symlink, utimes, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { expect, it, onTestFinished, vi } from 'vitest'
import { withFileLock } from './file-lock.ts'
import { newFolder } from '../../../test/support/machine/new-folder.ts'

async function lockFile(): Promise<string> {
  const folder = newFolder()
  return path.join(folder, 'state', 'a.lock')
}

const shiftTime = (file: string, ms: number) => utimes(file, new Date(Date.now() + ms), new Date(Date.now() + ms))

it('a file lock is held by one at a time, and leaves nothing behind', async () => {
  const lock = await lockFile()
  const order: string[] = []
  const work = (name: string) => async () => {
    order.push(`+${name}`)
    await new Promise((resolve) => setTimeout(resolve, 5))
    order.push(`-${name}`)
  }
  await Promise.all(['a', 'b', 'c'].map((name) => withFileLock(lock, work(name))))
  for (let i = 0; i < order.length; i += 2) expect(order[i + 1]).toBe(order[i]!.replace('+', '-'))
  expect(await readdir(path.dirname(lock))).toEqual([])
})

it('a file lock is released after a failure', async () => {
  const lock = await lockFile()
  await expect(withFileLock(lock, () => Promise.reject(new Error('no')))).rejects.toThrow('no')
  expect(await withFileLock(lock, () => Promise.resolve(1))).toBe(1)
})

it('a file lock is released on Windows while a virus scanner reads it', async () => {
  const lock = await lockFile()
  const { platform } = process
  Object.defineProperty(process, 'platform', { value: 'win32' })
  onTestFinished(() => void Object.defineProperty(process, 'platform', { value: platform }))
  const rename = vi.spyOn(promises, 'rename')
  onTestFinished(() => rename.mockRestore())
  rename.mockRejectedValueOnce(Object.assign(new Error('denied'), { code: 'EPERM' }))
  await withFileLock(lock, () => Promise.resolve())
  expect(rename).toHaveBeenCalledTimes(2)
  expect(await readdir(path.dirname(lock))).toEqual([])
})

it.each([
  ['long ago', -61_000],
  ['in the future, before the clock was set back', 3_600_000],
])('a file lock that was left behind %s is removed', async (_when, ms) => {
  const lock = await lockFile()
  await withFileLock(lock, () => Promise.resolve())
  await writeFile(lock, '')
  await shiftTime(lock, ms)
  expect(await withFileLock(lock, () => Promise.resolve('done'))).toBe('done')
})

it('what is no file is removed from the place of a file lock', async () => {
  const lock = await lockFile()
  await mkdir(lock, { recursive: true })
  expect(await withFileLock(lock, () => Promise.resolve('done'), 5_000)).toBe('done')
  await symlink('missing', lock)
  expect(await withFileLock(lock, () => Promise.resolve('done'), 5_000)).toBe('done')
})

it('a file lock that names no owner is taken over at once', async () => {
  const lock = await lockFile()
  await withFileLock(lock, () => Promise.resolve())
  await writeFile(lock, '')
  await shiftTime(lock, -1_000)
  expect(await withFileLock(lock, () => Promise.resolve('done'), 5_000)).toBe('done')
})

it('whoever waits for a file lock with limited patience is told who holds it', async () => {
  const lock = await lockFile()
  const waiting = withFileLock(lock, () => withFileLock(lock, () => Promise.resolve(), 50))
  await expect(waiting).rejects.toThrow(`another process has held ${lock} for 0.05 s`)
})

it('a holder that was taken for dead does not remove the lock of its successor', async () => {
  const lock = await lockFile()
  let robbed: Promise<void> | undefined
  let endFirst = (): void => {}
  const isIn = new Promise<void>((entered) => {
    robbed = withFileLock(lock, () => {
      entered()
      return new Promise((resolve) => (endFirst = resolve))
    })
  })
  await isIn
  await rm(lock)
  await withFileLock(lock, async () => {
    const own = await readFile(lock, 'utf8')
    endFirst()
    await robbed
    expect(await readFile(lock, 'utf8')).toBe(own)
  })
  expect(await readdir(path.dirname(lock))).toEqual([])
})

it('a file lock of a killed process is removed at once', async () => {
  const lock = await lockFile()
  await withFileLock(lock, async () => {
    const [host, , id] = (await readFile(lock, 'utf8')).split(' ')
    await writeFile(lock, `${host} 999999999 ${id}`)
  })
  expect(await readFile(lock, 'utf8')).toContain('999999999')
  expect(await withFileLock(lock, () => Promise.resolve('done'))).toBe('done')
})

it.runIf(process.platform === 'linux')(
  'a file lock of a killed process whose id another one has is removed at once',
  async () => {
    const lock = await lockFile()
    await withFileLock(lock, async () => {
      const own = await readFile(lock, 'utf8')
      await writeFile(lock, `${own}0`)
    })
    expect(await withFileLock(lock, () => Promise.resolve('done'), 5_000)).toBe('done')
  },
)

it('a file lock of a process on another machine is left alone while it is fresh', async () => {
  const lock = await lockFile()
  await withFileLock(lock, () => Promise.resolve())
  await writeFile(lock, 'another-host 999999999 x')
  let isTaken = false
  const waiting = withFileLock(lock, async () => void (isTaken = true))
  await new Promise((resolve) => setTimeout(resolve, 100))
  expect(isTaken).toBe(false)
  await rm(lock)
  await waiting
})

it('a file lock of a living process is not taken after sleep, when its time is old', async () => {
  const lock = await lockFile()
  const order: string[] = []
  let isIn = (): void => {}
  const entered = new Promise<void>((resolve) => (isIn = resolve))
  const first = withFileLock(lock, async () => {
    isIn()
    await new Promise((resolve) => setTimeout(resolve, 600))
    order.push('first')
  })
  await entered
  await shiftTime(lock, -61_000)
  // What waits at once looks more often.
  await Promise.all(
    Array.from({ length: 20 }, () => withFileLock(lock, async () => void order.push('other'), 5_000, 60)),
  )
  await first
  expect(order[0]).toBe('first')
})

it('a file lock that a living process of this machine does not refresh is taken in the end: its id was used again', async () => {
  const lock = await lockFile()
  await withFileLock(lock, async () => {
    const [host, , id] = (await readFile(lock, 'utf8')).split(' ')
    await writeFile(lock, `${host} ${process.ppid} ${id}`)
  })
  await shiftTime(lock, -61_000)
  expect(await withFileLock(lock, () => Promise.resolve('done'), 5_000, 10)).toBe('done')
})
