import { existsSync, readFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { expect, it, onTestFinished, vi } from 'vitest'
import { machineName, stillRuns, thisProcess } from './process-id.ts'

const GONE = 4_194_305

it('a recorded process of this machine runs while its id exists with the same start', () => {
  const own = thisProcess()
  // Only Linux tells the start of a process.
  const isKnown = existsSync('/proc/self/stat')
  expect(stillRuns(own)).toBe(isKnown ? true : undefined)
  expect(stillRuns({ ...own, pid: GONE })).toBe(false)
  expect(stillRuns({ ...own, started: 'another boot 1' })).toBe(isKnown ? false : undefined)
})

it('whether a process of another machine runs, or one of unknown start, cannot be known', () => {
  const own = thisProcess()
  expect(stillRuns({ ...own, host: 'another-machine' })).toBeUndefined()
  expect(stillRuns({ host: own.host, pid: own.pid })).toBeUndefined()
  expect(stillRuns({ host: own.host, pid: GONE })).toBe(false)
})

it('a machine is called after its hardware or its installation, which no network changes', () => {
  const child = { spawnSync: vi.fn(() => ({ stdout: '  "IOPlatformUUID" = "5D2A-41"\n  "IOBusyInterest" = "x"' })) }
  const load = vi.spyOn(process, 'getBuiltinModule').mockReturnValue(child)
  onTestFinished(() => load.mockRestore())
  expect(machineName('', 'darwin')).toBe('5D2A-41')
  child.spawnSync.mockReturnValueOnce({ stdout: '' })
  expect(machineName('', 'darwin')).toBe(hostname())
  const id = existsSync('/etc/machine-id') ? readFileSync('/etc/machine-id', 'utf8').trim() : ''
  expect(machineName('pid:[4026531836]', 'linux')).toBe(id || hostname())
  expect(machineName('pid:[4026532999]', 'linux')).toBe(hostname())
})
