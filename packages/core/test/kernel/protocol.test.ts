// This file verifies the golden frames: they include the examples of docs/protocol.md, the kernel follows them, and a
// live kernel sends nothing else.
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'
import { PROTOCOL_VERSION } from '../../src/cell/protocol/frames.ts'
import { whyNoPython } from '../support/sandboxes/plain-kernel.ts'
import { startPlainPython, runPython } from '../support/sandboxes/plain-python.ts'
import { Driver, type Frame } from './drive.ts'
import { skip } from '../support/suite/needs.ts'

const ROOT = path.join(import.meta.dirname, '../../../..')
const golden = JSON.parse(readFileSync(path.join(ROOT, 'packages/core/test/fixtures/frames.json'), 'utf8')) as {
  valid: Record<string, Frame[]>
  invalid: { why: string; line: string }[]
}

it('packages/core/test/fixtures/frames.json holds every example of docs/protocol.md', () => {
  const page = readFileSync(path.join(ROOT, 'docs/protocol.md'), 'utf8')
  const examples = [...page.matchAll(/```json\n(.*?)\n```/gs)].map((match) => JSON.parse(match[1]!) as Frame)
  expect(examples.length).toBeGreaterThan(10)
  for (const example of examples) expect(golden.valid[example.type]).toContainEqual(example)
})

it('packages/core/test/fixtures/frames.json has every frame under its type, and no reason twice', () => {
  for (const [type, frames] of Object.entries(golden.valid)) for (const frame of frames) expect(frame.type).toBe(type)
  const reasons = golden.invalid.map((one) => one.why)
  expect(new Set(reasons).size).toBe(reasons.length)
})

it('the Python kernel passes its own unit tests', () => {
  const reason = whyNoPython()
  if (reason !== undefined) skip(reason)
  const code = `import sys; sys.path.insert(0, ${JSON.stringify(path.join(ROOT, 'packages/core/python'))}); import unittest; unittest.main(module=None, argv=['', 'discover', '-s', ${JSON.stringify(path.join(ROOT, 'packages/core/test/kernel/python'))}])`
  const { status, stderr } = runPython(['-I', '-B', '-c', code])
  expect(stderr).toMatch(/Ran \d+ tests[\s\S]*OK/)
  expect(status).toBe(0)
})

it('the kernel sends its hello before any other frame', async () => {
  const reason = whyNoPython()
  if (reason !== undefined) skip(reason)
  const driver = new Driver(startPlainPython())
  const ready = await driver.ready()
  expect(ready).toEqual({
    type: 'ready',
    protocol: PROTOCOL_VERSION,
    python: expect.stringMatching(/^3\.\d+\.\d+$/),
    platform: 'linux',
  })
  await driver.sandbox.dispose()
})
