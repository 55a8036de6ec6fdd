import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'
import { isLeftover, newContainerName, removeLeftovers } from './owner.ts'
import { needsLinux, needsPosix, needsRoot } from '@sandbridge/core/test/support/suite/needs.ts'
import { programOnPath } from '../test/support/program-on-path.ts'
import { newFolder } from '@sandbridge/core/test/support/machine/new-folder.ts'

it('a container of a running bridge is not a leftover', () => {
  expect(isLeftover(newContainerName())).toBe(false)
})

it('names of containers are never used twice', () => {
  expect(newContainerName()).not.toBe(newContainerName())
})

it('a container of a process that has ended is a leftover', async () => {
  const child = spawn(process.execPath, ['-e', ''])
  await once(child, 'exit')
  expect(isLeftover(`sandbridge-${child.pid}-12345-abcdef`)).toBe(true)
})

it('a container of a process whose id was used again is a leftover', () => {
  needsLinux('start times of processes are read from /proc')
  expect(isLeftover(`sandbridge-${process.pid}-1-abcdef`)).toBe(true)
})

it('a container of a user without a name is recognised', () => {
  needsLinux('setpriv makes the user')
  needsRoot('another user is made')
  const script = `const { ownerLabels } = await import('${import.meta.dirname}/owner.ts'); console.log(JSON.stringify(ownerLabels('x')))`
  const node = [process.execPath, '--import', 'tsx', '--input-type=module', '-e', script]
  const { stdout, stderr } = spawnSync('setpriv', ['--reuid=54321', '--regid=54321', '--clear-groups', ...node], {
    encoding: 'utf8',
  })
  expect(stdout, stderr).toContain('sandbridge.host')
})

it('a container without a start time is kept while its process id runs', () => {
  expect(isLeftover(`sandbridge-${process.pid}-0-abcdef`)).toBe(false)
})

it.each([
  '',
  'postgres',
  'sandbridge',
  'sandbridge-data',
  'sandbridge-x-1-ab',
  'my-sandbridge-1-2-ab',
  'sandbridge-1-2-ab-3',
])('a container named %j belongs to something else and is kept', (name) => {
  expect(isLeftover(name)).toBe(false)
})

it('a leftover that something else removes meanwhile does not keep the others', async () => {
  needsPosix('the engine is a script')
  const left = [1, 2, 3].map((number) => `sandbridge-${2 ** 22 + number}-12345-abcdef`)
  const folder = newFolder()
  for (const name of left) writeFileSync(path.join(folder, name), '')
  // Lists three containers, of which the second one is gone then. Like podman 4.3, it removes all it is given or none.
  programOnPath(
    'podman',
    `cd ${folder} || exit 1
if [ "$1" = ps ]; then ls; rm ${left[1]}; exit 0; fi
shift 3
for name; do [ -e "$name" ] || exit 0; done
rm "$@"`,
  )
  await removeLeftovers({ command: 'podman' })
  expect(readdirSync(folder)).toEqual([])
})
