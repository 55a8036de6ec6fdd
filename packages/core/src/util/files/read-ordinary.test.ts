import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import path from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { needsPosix } from '../../../test/support/suite/needs.ts'
import { readOrdinary, readOrdinarySync } from './read-ordinary.ts'
import { newFolder } from '../../../test/support/machine/new-folder.ts'

it.each([
  ['asynchronously', readOrdinary],
  ['synchronously', async (...args: Parameters<typeof readOrdinarySync>) => readOrdinarySync(...args)],
])('a socket or a folder is refused, and a file is read %s unless its size is refused', async (_, read) => {
  needsPosix('sockets of Windows are not in folders')
  const folder = newFolder()
  const server = createServer().listen(path.join(folder, 'socket'))
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  await expect(read(path.join(folder, 'socket'))).rejects.toMatchObject({
    name: 'NotOrdinary',
    isFolder: false,
  })
  await expect(read(folder)).rejects.toMatchObject({ name: 'NotOrdinary', isFolder: true })

  const file = path.join(folder, 'file')
  writeFileSync(file, 'text')
  expect(String(await read(file))).toBe('text')
  const refuse = (sizeBytes: number): void => {
    throw new Error(`${sizeBytes} bytes`)
  }
  await expect(read(file, refuse)).rejects.toThrow('4 bytes')
})
