// This file verifies what bridges remember about the Python that forks sandboxes: what it saves, and that a machine
// that has changed is searched again.
import { chmodSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, it, vi } from 'vitest'
import { findPrograms } from '../../../core/src/util/process/find-program.ts'
import { BubblewrapProvider } from '../../src/provider.ts'
import { startCells } from '@sandbridge/core/test/support/sandboxes/cell-runner.ts'
import { providerOrSkip } from '@sandbridge/core/test/support/sandboxes/engines.ts'
import { visibleFolder } from '@sandbridge/core/test/support/machine/visible-folder.ts'
import { newFolder } from '@sandbridge/core/test/support/machine/new-folder.ts'

/** A bwrap that logs what it is started for, and fails once when told to. The system's Python is the only one. */
async function watchedBubblewrap() {
  await providerOrSkip('bubblewrap-fork')
  const folder = visibleFolder()
  // Sandboxes of root run as another user.
  chmodSync(folder, 0o777)
  const [bwrap] = findPrograms('bwrap')
  const [log, broken] = [path.join(folder, 'log'), path.join(folder, 'broken')]
  const script = [
    '#!/bin/sh',
    // Only what the first cell waits for: the kernel is compiled later, perhaps while the next bridge starts.
    `case "$*" in *-forks*) echo forks >> ${log};; *_multiarch*) echo tries >> ${log};; *) exec ${bwrap} "$@";; esac`,
    `[ -e ${broken} ] && rm ${broken} && exit 1`,
    `exec ${bwrap} "$@"`,
  ]
  writeFileSync(path.join(folder, 'bwrap'), `${script.join('\n')}\n`, { mode: 0o755 })
  vi.stubEnv('PATH', `${folder}:/usr/bin:/bin`)
  const cacheDir = newFolder()
  /** What a bridge starts to run its first cell. */
  const started = async (): Promise<string[]> => {
    rmSync(log, { force: true })
    const onNotForked = (reason: string) => expect.fail(reason)
    const cells = await startCells(new BubblewrapProvider({ pidsCount: 128, forks: true, cacheDir, onNotForked }))
    expect((await cells.run('6 * 7')).value).toBe('42')
    return readFileSync(log, 'utf8').trim().split('\n')
  }
  return { started, broken }
}

it('the second bridge starts the process that forks and tries out no Python before it', async () => {
  const { started } = await watchedBubblewrap()
  expect(await started()).toEqual(['tries', 'forks'])
  expect(await started()).toEqual(['forks'])
})

it('a remembered Python that works no more is searched for again', async () => {
  const { started, broken } = await watchedBubblewrap()
  await started()
  writeFileSync(broken, '')
  expect(await started()).toEqual(['forks', 'tries', 'forks'])
  expect(existsSync(broken)).toBe(false)
  expect(await started()).toEqual(['forks'])
})
