// This file verifies that bubblewrap finds a working Node wherever it is installed, and adds only one file of it.
import { chmodSync, copyFileSync, mkdirSync, realpathSync } from 'node:fs'
import path from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { startCells } from '@sandbridge/core/test/support/sandboxes/cell-runner.ts'
import { makeNodeProvider, providerOrSkip } from '@sandbridge/core/test/support/sandboxes/engines.ts'
import { languages } from '@sandbridge/core/parts'
import { withNode } from './host-node.ts'
import { newFolder } from '@sandbridge/core/test/support/machine/new-folder.ts'

const { execPath } = process
afterEach(() => void (process.execPath = execPath))

const SYSTEM = { id: 'x', binds: ['--ro-bind', '/usr', '/usr'], python: 'python3', environment: { PATH: '/usr/bin' } }

/** Installs this machine's Node in an unusual folder. */
function installedElsewhere(mode = 0o755): string {
  const folder = newFolder()
  const file = path.join(folder, 'bin', 'node')
  mkdirSync(path.dirname(file))
  copyFileSync(realpathSync(execPath), file)
  chmodSync(file, 0o755)
  chmodSync(folder, mode)
  return file
}

it('the Node of a bubblewrap sandbox is that of the bridge, at a path of its own', async () => {
  const tried: string[] = []
  const found = await withNode(SYSTEM, async (_, program) => tried.push(program) > 0)
  expect(tried).toEqual(['/opt/node/bin/node'])
  expect(found.environment).toEqual({ PATH: '/opt/node/bin:/usr/bin' })
  expect(found.binds.slice(3, 6)).toEqual(['--ro-bind', realpathSync.native(execPath), '/opt/node/bin/node'])
})

it('no Node is used in bubblewrap where none works', async () => {
  expect(await withNode(SYSTEM, async () => false)).toBe(SYSTEM)
})

it.for([
  ['can be read', 0o755],
  ['cannot be read there, and another one is used', 0o700],
] as [string, number][])('Node runs cells when it is installed in a folder of its own that %s', async ([, mode]) => {
  await providerOrSkip('bubblewrap')
  process.execPath = installedElsewhere(mode)
  const cells = await startCells(makeNodeProvider('bubblewrap')!)
  const code = `const fs = require('fs')
;[process.execPath, fs.readdirSync('/opt/node'), fs.existsSync(${JSON.stringify(path.dirname(process.execPath))})]`
  const { languageFiles } = await languages.for('This test')
  const { value, error } = await cells.run(code, () => languageFiles('javascript'), 'javascript')
  expect([value, error]).toEqual(["[ '/opt/node/bin/node', [ 'bin' ], false ]", undefined])
})
