import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { needsPosix } from '@sandbridge/core/test/support/needs.ts'
import { stableNode } from './stable-node.ts'

const root = realpathSync(mkdtempSync(path.join(tmpdir(), 'stable-node-')))
afterAll(() => rmSync(root, { recursive: true, force: true }))

/** A file, or a link to `target`. */
function program(name: string, target?: string): string {
  const file = path.join(root, name)
  mkdirSync(path.dirname(file), { recursive: true })
  if (target === undefined) writeFileSync(file, '')
  else symlinkSync(target, file)
  return file
}

const versioned = program('Cellar/node/22.21.0/bin/node')

it('init writes the path of a Node that no version manager has installed as it is', async () => {
  expect(await stableNode('/usr/bin/node', [program('other/bin/node')])).toBe('/usr/bin/node')
})

it('init writes a link that leads to a version, instead of the folder of the version', async () => {
  needsPosix('links of files take a privilege on Windows')
  const oneShell = program('fnm_multishells/1_2/bin/node', versioned)
  const link = program('brew/bin/node', versioned)
  expect(await stableNode(versioned, [oneShell, versioned, program('different/node'), link])).toBe(link)
  expect(await stableNode(oneShell, [oneShell, link])).toBe(link)
  expect(await stableNode(oneShell, [oneShell])).toBe(versioned)
})

it('init writes the shim of a version manager', async () => {
  const shim = program('asdf/shims/node')
  expect(await stableNode(versioned, [versioned, shim])).toBe(shim)
})

it('init writes the path of the version where nothing else starts it', async () => {
  expect(await stableNode(versioned, [versioned, '/nowhere/node'])).toBe(versioned)
})
