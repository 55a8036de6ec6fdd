import { lstatSync, mkdirSync, readdirSync, symlinkSync, utimesSync } from 'node:fs'
import { createServer } from 'node:net'
import path from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { needsPosix } from '@sandbridge/core/test/support/suite/needs.ts'
import { hostScope } from '../../../core/src/util/process/process-id.ts'
import { removeKilled } from './publish.ts'
import { ownPlace, residentPlace } from '../reach/run-folder.ts'
import { newFolder } from '@sandbridge/core/test/support/machine/new-folder.ts'

it('folders of residents that were killed are removed, and none of another machine or of others', async () => {
  needsPosix('on Windows a resident listens on no file')
  const state = newFolder()
  const name = '0123456789abcdef0123'
  const place = residentPlace(state, name)
  const old = new Date(Date.now() - 3_600_000)
  const make = (folder: string, time = old, host = hostScope()): void => {
    mkdirSync(path.join(place.folder, folder), { recursive: true })
    const of = path.join(place.folder, folder, 'host')
    if (lstatSync(of, { throwIfNoEntry: false }) === undefined) symlinkSync(host, of)
    utimesSync(path.join(place.folder, folder), time, time)
  }
  // This test's own process id stands for one that another process has by now.
  make(`abcdef.${process.pid}`)
  make('abcdef.d.12345.mfz1k2')
  make('abcdef.d')
  // On another machine with the same home folder: its sockets refuse every connection here.
  for (const one of ['fedcba.d', 'fedcba.12345']) make(one, old, `other-${hostScope()}`)
  const stays = [
    `${name}.${process.pid}`,
    'abcdef.12345',
    `${name}.start`,
    'abcdef.log.1',
    'other.12',
    'fedcba.d',
    'fedcba.12345',
  ]
  for (const one of stays) make(one)
  make('abcdef.12345', new Date())
  const server = createServer().listen(ownPlace(place, name).socket)
  await new Promise((resolve) => server.once('listening', resolve))
  onTestFinished(() => void server.close())
  make(`${name}.${process.pid}`)
  const kept: string[] = []
  await removeKilled(place, (home) => kept.push(path.basename(home)))
  expect(readdirSync(place.folder).toSorted()).toEqual(stays.toSorted())
  // One that was published is moved aside first.
  const own = kept.map((one) => one.replace(/^abcdef\.d\.\d+\.(?!mfz1k2)\w+$/, 'abcdef.d'))
  expect(own.toSorted()).toEqual([`abcdef.${process.pid}`, 'abcdef.d', 'abcdef.d.12345.mfz1k2'].toSorted())
})
