// This file verifies that `auto` remembers what it took, and takes something else as soon as it should.
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { beforeEach, expect, it, vi } from 'vitest'
import { readSettings } from '@sandbridge/core/config/settings'
import { SILENT } from '@sandbridge/core/util'
import { findProvider } from './detect.ts'
import type { Candidate } from '@sandbridge/core/isolation'
import { type KeptChoice, MachineMemory } from './remembered-choice.ts'
import { needsPosix } from '@sandbridge/core/test/support/suite/needs.ts'
import { newFolder } from '@sandbridge/core/test/support/machine/new-folder.ts'

let folder: string
beforeEach(() => {
  needsPosix('Windows remembers no choice')
  folder = newFolder()
})

const memory = (settings: unknown = 'settings') => new MachineMemory<KeptChoice>(folder, 'choice', settings)
const PYODIDE: KeptChoice = {
  name: 'pyodide',
  verdict: 'works',
  passedOver: [{ name: 'podman', verdict: 'is missing' }],
  refused: [],
}
const keep = () => memory().keep(PYODIDE)

it('a choice is remembered for the same settings', () => {
  keep()
  expect(memory().read()).toEqual(PYODIDE)
  expect(memory('other settings').read()).toBeUndefined()
})

it('a choice is forgotten when an engine was installed or replaced, or leads elsewhere', () => {
  const bin = path.join(folder, 'bin')
  mkdirSync(bin)
  vi.stubEnv('PATH', `${bin}:/usr/bin`)
  keep()
  writeFileSync(path.join(bin, 'podman'), '#!/bin/sh\n')
  chmodSync(path.join(bin, 'podman'), 0o755)
  expect(memory().read()).toBeUndefined()
  keep()
  expect(memory().read()).toBeDefined()
  writeFileSync(path.join(bin, 'podman'), '#!/bin/sh\nexit 1\n')
  expect(memory().read()).toBeUndefined()
  keep()
  vi.stubEnv('DOCKER_HOST', 'tcp://127.0.0.1:1')
  expect(memory().read()).toBeUndefined()
})

it('a choice is not read from a folder that others can write to, from a damaged file, or after a day', () => {
  keep()
  vi.setSystemTime(Date.now() + 25 * 60 * 60_000)
  expect(memory().read()).toBeUndefined()
  vi.useRealTimers()
  expect(memory().read()).toBeDefined()
  chmodSync(path.join(folder, 'engines'), 0o777)
  expect(memory().read()).toBeUndefined()
  chmodSync(path.join(folder, 'engines'), 0o700)
  writeFileSync(path.join(folder, 'engines/choice.json'), '{"key":')
  expect(memory().read()).toBeUndefined()
})

it('auto takes the remembered provider without waiting for engines, and checks them meanwhile', async () => {
  const settings = readSettings({ MCP_BRIDGE_CACHE_DIR: folder, MCP_BRIDGE_RUNTIME: 'auto' }, { home: folder })
  const answers: ((candidate: Candidate) => void)[] = []
  const podman = vi.fn<() => Promise<Candidate>>(() => new Promise((resolve) => answers.push(resolve)))
  const pyodide = () => Promise.resolve({ name: 'pyodide', usable: true, verdict: 'works' } as const)
  const find = () => findProvider(settings, SILENT, undefined, { memory: memory() }, [podman, pyodide])
  const first = find()
  answers[0]!({ name: 'podman', usable: false, verdict: 'is missing' })
  expect((await first).passedOver).toEqual([{ name: 'podman', verdict: 'is missing' }])
  // Podman does not answer, and is not waited for.
  expect(await find()).toMatchObject({ provider: { name: 'pyodide' }, passedOver: [{ name: 'podman' }] })
  expect(podman).toHaveBeenCalledTimes(2)
  answers[1]!({ name: 'podman', usable: true, verdict: 'works' })
  await expect.poll(() => memory().read()).toBeUndefined()
})

it('an engine that works without its image does not end the memory of what was taken in its place', async () => {
  const settings = readSettings({ MCP_BRIDGE_CACHE_DIR: folder, MCP_BRIDGE_RUNTIME: 'auto' }, { home: folder })
  memory().keep({ ...PYODIDE, refused: ['podman'] })
  const checked = new Promise<void>((resolve) => setTimeout(resolve, 50))
  const podman = () => Promise.resolve({ name: 'podman', usable: true, verdict: 'works' } as const)
  const pyodide = () => Promise.resolve({ name: 'pyodide', usable: true, verdict: 'works' } as const)
  await findProvider(settings, SILENT, undefined, { memory: memory() }, [podman, pyodide])
  await checked
  expect(memory().read()).toBeDefined()
})
