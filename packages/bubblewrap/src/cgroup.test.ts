// This file verifies which files are read and written, in a simulated hierarchy.
// packages/bubblewrap/test/contract/bubblewrap-cgroup.test.ts tests the real kernel.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'
import { Cgroup, findCgroupParent } from './cgroup.ts'
import { newFolder } from '@sandbridge/core/test/support/machine/new-folder.ts'

/** A process in `/user/app/ours`, below folders with the given controllers. */
function hierarchy(controllers: Record<string, string>, membership = '0::/user/app/ours\n') {
  const root = newFolder()
  const membershipFile = path.join(root, 'membership')
  writeFileSync(membershipFile, membership)
  mkdirSync(path.join(root, 'user/app/ours'), { recursive: true })
  for (const [folder, names] of Object.entries(controllers)) {
    writeFileSync(path.join(root, folder, 'cgroup.controllers'), `${names}\n`)
    writeFileSync(path.join(root, folder, 'cgroup.subtree_control'), '')
    writeFileSync(path.join(root, folder, 'cgroup.procs'), '')
  }
  return { root, find: () => findCgroupParent(root, membershipFile) }
}

it('control groups are made in the nearest folder whose memory and process limits can be delegated', async () => {
  const { root, find } = hierarchy({ 'user/app/ours': 'cpu', 'user/app': 'cpu memory pids', user: 'cpu memory pids' })
  expect(await find()).toBe(path.join(root, 'user/app'))
  expect(readFileSync(path.join(root, 'user/app/cgroup.subtree_control'), 'utf8')).toBe('+memory +pids')
})

it.each([
  ['there are no limits to hand on', { 'user/app': 'cpu', user: 'memory' }, undefined],
  ['this is cgroup v1', { user: 'memory pids' }, '4:memory:/user\n'],
  ['this process is outside of what is mounted here', { user: 'memory pids' }, '0::/../../other\n'],
  ['nothing is known of this process', { user: 'memory pids' }, ''],
])('control groups are not used where %s', async (_why, controllers, membership) => {
  expect(await hierarchy(controllers, membership).find()).toBeUndefined()
})

it('control groups that a killed bridge left behind are removed, and none of a running bridge', async () => {
  const { root, find } = hierarchy({ user: 'memory pids' })
  const names = [`sandbridge-${process.pid}-a`, 'sandbridge-4194305-b', 'other']
  for (const name of names) mkdirSync(path.join(root, 'user', name))
  await find()
  const left = readdirSync(path.join(root, 'user')).filter((name) => !name.startsWith('cgroup.'))
  expect(left.toSorted()).toEqual(['app', 'other', `sandbridge-${process.pid}-a`])
})

it('a control group has its limits before anything runs in it, and its command joins it first', async () => {
  const { root } = hierarchy({})
  const cgroup = await Cgroup.make(root, 'sandbridge-1-x', { memoryBytes: 1 << 28, pidsCount: 77 })
  const read = (file: string) => readFileSync(path.join(root, 'sandbridge-1-x', file), 'utf8')
  expect(['memory.max', 'memory.swap.max', 'memory.oom.group', 'pids.max'].map(read)).toEqual([
    String(1 << 28),
    '0',
    '1',
    '77',
  ])
  const { command, args } = cgroup.command({ command: 'bwrap', args: ['--', "it's"] })
  expect([command, ...args.slice(2)]).toEqual([
    '/bin/sh',
    path.join(root, 'sandbridge-1-x/cgroup.procs'),
    'bwrap',
    '--',
    "it's",
  ])
})

it('a control group reports that the kernel ended it', async () => {
  const { root } = hierarchy({})
  const cgroup = await Cgroup.make(root, 'sandbridge-1-x', { memoryBytes: 1 << 28, pidsCount: 77 })
  expect(await cgroup.wasOutOfMemory()).toBe(false)
  const events = (count: number) =>
    writeFileSync(path.join(root, 'sandbridge-1-x/memory.events'), `low 0\noom 3\noom_kill ${count}\n`)
  events(0)
  expect(await cgroup.wasOutOfMemory()).toBe(false)
  events(12)
  expect(await cgroup.wasOutOfMemory()).toBe(true)
})
