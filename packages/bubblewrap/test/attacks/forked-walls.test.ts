// @module-tag whole: bubblewrap.test.ts tries one attack of each kind
// This file verifies the walls of forked sandboxes, which our own code builds instead of bubblewrap: each as the kernel
// shows it from inside. Failing attacks are not enough, because several walls stop most of them.
import { readlinkSync } from 'node:fs'
import { expect, it } from 'vitest'
import { type CellRunner, startCells } from '@sandbridge/core/test/support/sandboxes/cell-runner.ts'
import { providerOrSkip } from '@sandbridge/core/test/support/sandboxes/engines.ts'

const start = async (): Promise<CellRunner> => startCells(await providerOrSkip('bubblewrap-fork'))

it('a forked sandbox has no capabilities and no way to get any, and a filter for system calls', async () => {
  const cells = await start()
  for (const pid of ['1', 'self']) {
    const status = await cells.evaluate<Record<string, string>>(
      `dict(line.split(':\\t', 1) for line in open('/proc/${pid}/status').read().splitlines() if ':\\t' in line)`,
    )
    for (const set of ['CapInh', 'CapPrm', 'CapEff', 'CapBnd', 'CapAmb']) expect(status[set], set).toMatch(/^0+$/)
    expect(status).toMatchObject({ NoNewPrivs: '1', Seccomp: '2', Uid: '65534\t65534\t65534\t65534' })
  }
})

it('a forked sandbox shares no namespace with anything else', async () => {
  const provider = await providerOrSkip('bubblewrap-fork')
  const look =
    "{name: __import__('os').readlink('/proc/self/ns/' + name) for name in ('user', 'mnt', 'pid', 'net', 'ipc', 'uts', 'cgroup')}"
  const [one, other] = [await startCells(provider), await startCells(provider)]
  const [first, second] = [
    await one.evaluate<Record<string, string>>(look),
    await other.evaluate<Record<string, string>>(look),
  ]
  for (const [name, namespace] of Object.entries(first)) {
    expect(namespace).not.toBe(second[name])
    expect(namespace).not.toBe(readlinkSync(`/proc/self/ns/${name}`))
  }
})

it('a forked sandbox can make no namespace of its own, whatever the filter allows', async () => {
  const cells = await start()
  expect(await cells.evaluate("open('/proc/sys/user/max_user_namespaces').read()")).toBe('0\n')
})

it('a forked sandbox can write to its own folders only, up to a limit', async () => {
  const cells = await start()
  const mounts = await cells.evaluate<string[][]>("[line.split()[1:4] for line in open('/proc/self/mounts')]")
  const writable = mounts.filter(([place, , options]) => options!.startsWith('rw,') && !place!.startsWith('/dev/null'))
  const devices = ['/dev/null', '/dev/full', '/dev/random', '/dev/urandom']
  expect(
    writable
      .map(([place]) => place!)
      .filter((place) => !devices.includes(place))
      .toSorted(),
  ).toEqual(['/dev/shm', '/proc', '/proc', '/tmp', '/workspace'])
  for (const [place, kind, options] of writable.filter(([, type]) => type === 'tmpfs')) {
    expect([kind, options], place).toEqual(['tmpfs', expect.stringMatching(/nosuid,nodev.*size=(65536|131072)k/)])
  }
  const seen = await cells.evaluate("[entry for entry in __import__('os').listdir('/proc') if entry.isdigit()]")
  expect(seen).toEqual(['1', '2'])
  expect((await cells.run("open('/proc/sys/kernel/hostname', 'w')")).error?.name).toBe('OSError')
})

it('a forked sandbox has the same descriptors as any other sandbox, and a process group of its own', async () => {
  const look = `
import os
names = sorted(map(int, os.listdir('/proc/self/fd')))
places = [f'/proc/self/fd/{name}' for name in names]
print(names, [os.readlink(place).split(':')[0] for place in places if os.path.lexists(place)])
print(os.getpgid(0), os.getsid(0), os.getpgid(1))`
  const seen = await Promise.all(
    (['bubblewrap', 'bubblewrap-fork'] as const).map(async (name) => {
      const cells = await startCells(await providerOrSkip(name))
      return (await cells.run(look)).output
    }),
  )
  expect(seen[1]).toBe(seen[0])
  expect(seen[1]).toMatch(/\n1 1 1\n$/)
})

it('a forked sandbox has random numbers of its own, also from secrets and uuid', async () => {
  const provider = await providerOrSkip('bubblewrap-fork')
  const draw =
    "[__import__('random').getrandbits(64), __import__('secrets').token_hex(8), __import__('uuid').uuid4().hex]"
  const all = await Promise.all([1, 2, 3].map(async () => (await startCells(provider)).evaluate<unknown[]>(draw)))
  expect(new Set(all.flat()).size).toBe(9)
})
