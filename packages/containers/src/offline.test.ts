// This file verifies the behaviour without a network, with a fake engine that records its commands.
import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'
import { ensureImage, findImage } from './image.ts'
import type { Engine } from './probe-engine.ts'
import { needsPosix } from '@sandbridge/core/test/support/suite/needs.ts'
import { newFolder } from '@sandbridge/core/test/support/machine/new-folder.ts'

function offlineEngine(): { engine: Engine; asked: () => string[] } {
  const folder = newFolder()
  const program = path.join(folder, 'engine')
  const script = `#!/bin/sh\necho "$1" >> ${folder}/asked\necho "dial tcp: lookup registry.test: no such host" >&2\nexit 1\n`
  writeFileSync(program, script)
  chmodSync(program, 0o755)
  const engine = { command: program, dialect: 'docker', rootless: false } as unknown as Engine
  return { engine, asked: () => readFileSync(path.join(folder, 'asked'), 'utf8').trim().split('\n') }
}

it('an unreachable registry is waited for once, by whatever engine', async () => {
  needsPosix('the engine is a script')
  const [first, second] = [offlineEngine(), offlineEngine()]
  const image = 'registry.test/python:slim'
  await expect(ensureImage(first.engine, image)).rejects.toMatchObject({ code: 'SANDBOX_IMAGE_MISSING' })
  await expect(ensureImage(second.engine, image)).rejects.toThrow('no such host')
  expect(first.asked()).toEqual(['image', 'pull'])
  expect(second.asked()).toEqual(['image'])
})

it('a missing image is found without pulling it, and a pull does not wait again', async () => {
  needsPosix('the engine is a script')
  const { engine, asked } = offlineEngine()
  expect(await findImage(engine, 'other.test/python:slim')).toBe('missing')
  await expect(ensureImage(engine, 'other.test/python:slim')).rejects.toThrow('no such host')
  expect(asked()).toEqual(['image', 'manifest', 'image'])
})
