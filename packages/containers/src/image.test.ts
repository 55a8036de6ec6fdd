import { expect, it } from 'vitest'
import { needsPosix } from '@sandbridge/core/test/support/suite/needs.ts'
import { programOnPath } from '../test/support/program-on-path.ts'
import { ensureImage, fullImageName } from './image.ts'
import type { Engine } from './probe-engine.ts'

it.each([
  ['python:3.14-slim', 'docker.io/library/python:3.14-slim'],
  ['me/python', 'docker.io/me/python'],
  ['quay.io/me/python:1', 'quay.io/me/python:1'],
  ['localhost/sandbridge-slim', 'localhost/sandbridge-slim'],
  ['registry:5000/python', 'registry:5000/python'],
])('the image %s is pulled as %s', (name, full) => {
  expect(fullImageName(name)).toBe(full)
})

it('a pull that takes long goes on for the next caller, while another sandbox can be taken', async () => {
  needsPosix('a stub of POSIX')
  programOnPath(
    'podman',
    `here=$(dirname "$0")/here
     [ "$1" = pull ] && { sleep 1; echo pulled >> "$here"; exit 0; }
     [ -e "$here" ] && echo '[{"Id": "sha256:1"}]' || exit 125`,
  )
  const engine = { command: 'podman', dialect: 'podman' } as Engine
  const early = ensureImage(engine, 'python:3', undefined, 10)
  await expect(early).rejects.toMatchObject({ code: 'SANDBOX_BUSY', message: expect.stringContaining('being pulled') })
  expect(await ensureImage(engine, 'python:3')).toMatchObject({ id: 'sha256:1' })
})
