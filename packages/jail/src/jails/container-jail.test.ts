import { expect, it } from 'vitest'
import { containerArguments } from './container-jail.ts'
import type { Mount } from '../places/view.ts'

it('hides nothing inside a hidden folder, where no place to mount could be made', () => {
  const jail = { engine: { command: 'podman', dialect: 'podman', rootless: true }, image: 'i' }
  const mounts: Mount[] = [
    { kind: 'read', source: '/srv', target: '/srv' },
    { kind: 'hide-folder', source: '/srv/state', target: '/srv/state' },
    { kind: 'hide-folder', source: '/srv/state/inner', target: '/srv/state/inner' },
    { kind: 'hide-file', source: '/srv/state/key', target: '/srv/state/key' },
    { kind: 'write', source: '/srv/state/open', target: '/srv/state/open' },
    { kind: 'hide-file', source: '/srv/state/open/key', target: '/srv/state/open/key' },
    { kind: 'hide-file', source: '/srv/other', target: '/srv/other' },
  ]
  const options = {
    name: 'n',
    labels: {},
    nothing: { folder: '/empty', file: '/none' },
    submounts: ['/srv/state/disk', '/srv/disk'],
    home: { source: '/h', target: '/home/ann' },
    mounts,
    environment: {},
    network: false,
    cwd: '/srv',
  }
  const given = containerArguments(
    ...([jail, options, ['node']] as unknown as Parameters<typeof containerArguments>),
  ).flatMap((one) => /^--mount=.*target=(\/srv[^,]*)/.exec(one)?.[1] ?? [])
  expect(given.toSorted()).toEqual(
    ['/srv', '/srv/disk', '/srv/other', '/srv/state', '/srv/state/open', '/srv/state/open/key'].toSorted(),
  )
})
