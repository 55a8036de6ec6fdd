import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { expect, it } from 'vitest'
import { isLeftover, newContainerName } from './owner.ts'

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

it('a container of a process whose id was used again is a leftover', (ctx) => {
  if (process.platform !== 'linux') ctx.skip('start times of processes are read on Linux only')
  expect(isLeftover(`sandbridge-${process.pid}-1-abcdef`)).toBe(true)
})

it('a container of a user without a name is recognised', (ctx) => {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) ctx.skip('only root on Linux can become such a user')
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
