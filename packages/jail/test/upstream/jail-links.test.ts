// This file verifies that a jailed server opens nothing more for its next start: not by a link that it puts where its
// definition names something, and not by a folder that it renames. Without a jail, the same server reads and writes all
// of it.
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import type { ServerSandbox, StdioServer } from '../../../core/src/config/entries/server-definition.ts'
import type { JailMakerName } from '../../../core/src/isolation/jail-part.ts'
import { needsCase, needsWholeRun, skip } from '@sandbridge/core/test/support/suite/needs.ts'
import { JAIL_MAKERS } from './jail-makers.ts'
import { open, program, textOf } from '@sandbridge/core/test/upstream/support.ts'
import { newFolder } from '@sandbridge/core/test/support/machine/new-folder.ts'

const INTRUDER = path.join(import.meta.dirname, '../../../core/test/fixtures/servers/intruder.mjs')
const quoted = (text: string): string => JSON.stringify(text)

/** A project, and letters of the user that no definition names. */
function makePlace(): { home: string; project: string; letters: string } {
  const folder = realpathSync(newFolder())
  const [home, project] = [path.join(folder, 'home'), path.join(folder, 'project')]
  const letters = path.join(home, 'letters')
  for (const one of [
    path.join(home, 'MCPs/.sandbridge/jail'),
    path.join(home, '.ssh'),
    letters,
    path.join(project, 'in/deep'),
  ])
    mkdirSync(one, { recursive: true })
  for (const one of [letters, path.join(home, '.ssh'), path.join(project, 'in/deep')])
    writeFileSync(path.join(one, 'note'), 'private')
  // Root's jailed servers run as another user: only the jail is to stop them.
  execFileSync('chmod', ['-R', 'a+rwX', folder])
  return { home, project, letters }
}

interface Start {
  /** Without it, there is no jail. */
  filesystem?: ServerSandbox['filesystem']
  args?: string[]
  command?: string
  /** What holds secrets of other servers. */
  hidden?: string[]
}

/** What one start of the server answers to each code in turn. */
async function doesAll(
  codes: readonly string[],
  { home, project }: ReturnType<typeof makePlace>,
  maker: JailMakerName,
  { filesystem, args = [], command, hidden = [] }: Start = {},
): Promise<string[]> {
  const intruder = program('intruder', INTRUDER)
  const { args: own, ...plain } = intruder.transport as StdioServer
  const started = command === undefined ? { args: [...own, ...args] } : { command, args }
  const transport = { ...plain, ...started, ...(filesystem && { sandbox: { filesystem } }) }
  const upstreams = open([{ ...intruder, transport }], {
    jail: { home, stateDir: path.join(home, 'MCPs'), hidden: () => hidden, makers: [maker] },
    cwd: project,
  })
  const prelude = `const fs = require('node:fs'); process.chdir(${quoted(project)})\n`
  const answers: string[] = []
  for (const code of codes)
    answers.push(textOf(await upstreams.callTool('intruder', 'run', { code: `${prelude}${code}` })))
  await upstreams.close()
  return answers
}

const does = async (code: string, place: ReturnType<typeof makePlace>, maker: JailMakerName, start?: Start) =>
  (await doesAll([code], place, maker, start))[0]!

const readsIn = (folder: string): string => `return fs.readFileSync(${quoted(path.join(folder, 'note'))}, 'utf8')`
const writesIn = (folder: string): string =>
  `fs.writeFileSync(${quoted(path.join(folder, 'new'))}, 'x'); return 'written'`
const links = (to: string, from: string): string => `fs.symlinkSync(${quoted(to)}, ${quoted(from)}); return 'planted'`

describe.each(JAIL_MAKERS)('a server jailed by %s that plants links for its next start', (maker, why) => {
  beforeEach(() => {
    // What a link leads to is found out before any engine mounts it. One test is enough to see that it does so.
    const isOne = expect.getState().currentTestName?.endsWith('opens nothing behind a link to a link') === true
    if (maker === 'docker' || (maker === 'podman' && !isOne)) needsWholeRun()
    if (why !== undefined) skip(why)
  })

  it.each<[string, string, (project: string) => Start]>([
    ['an argument', 'out', (project) => ({ args: [path.join(project, 'out')] })],
    ['allowRead', 'out', (project) => ({ filesystem: { allowRead: [path.join(project, 'out')] } })],
    ['allowWrite', 'out', (project) => ({ filesystem: { allowWrite: [path.join(project, 'out')] } })],
    ['a folder on the way of an argument', 'out', (project) => ({ args: [path.join(project, 'out/note')] })],
  ])('opens nothing that %s leads to by its link', async (_, name, startOf) => {
    const place = makePlace()
    const { home, project } = place
    const { args = [], filesystem = {} } = startOf(project)
    const start = { args, filesystem: { ...filesystem, allowWrite: [project, ...(filesystem.allowWrite ?? [])] } }
    for (const secret of ['letters', '.ssh'].map((one) => path.join(home, one))) {
      expect(await does(links(secret, name), place, maker, start)).toBe('planted')
      expect(await does(readsIn(secret), place, maker)).toBe('private')
      const tries = [readsIn(secret), readsIn(path.join(project, name)), writesIn(secret)]
      const [read, readByLink, wrote] = await doesAll(tries, place, maker, start)
      expect([read, readByLink]).toEqual(['failed: ENOENT', 'failed: ENOENT'])
      expect(wrote).toMatch(/^failed/)
      expect(existsSync(path.join(secret, 'new'))).toBe(false)
      rmSync(path.join(project, name))
    }
  })

  it('opens nothing behind a link to a link', async () => {
    const place = makePlace()
    const { project, letters } = place
    const out = path.join(project, 'out')
    const start = { filesystem: { allowWrite: [project, out] } }
    const code = `fs.symlinkSync('in/../middle', 'out'); ${links(letters, 'middle')}`
    expect(await does(code, place, maker, start)).toBe('planted')
    expect(await does(readsIn(out), place, maker)).toBe('private')
    const [read, wrote] = await doesAll([readsIn(out), writesIn(letters)], place, maker, start)
    expect(read).toBe('failed: ENOENT')
    expect(wrote).toMatch(/^failed/)
  })

  it('opens no guarded place by a link to it', async () => {
    const place = makePlace()
    const { project } = place
    const hooks = path.join(project, '.git/hooks')
    mkdirSync(hooks, { recursive: true })
    execFileSync('chmod', ['-R', 'a+rwX', project])
    const start = { filesystem: { allowWrite: [project, path.join(project, 'out')] } }
    expect(await does(links('.git', 'out'), place, maker, start)).toBe('planted')
    expect(await does(writesIn(hooks), place, maker, start)).toBe('failed: EROFS')
    expect(await does(writesIn(hooks), place, maker)).toBe('written')
  })

  it('opens no folder as that of its program, when it can change the program', async () => {
    const place = makePlace()
    const { project, letters } = place
    const [tool, command] = [path.join(letters, 'tool'), path.join(project, 'run.mjs')]
    const begin = (interpreter: string): void => {
      writeFileSync(command, `#!${interpreter}\n${readFileSync(INTRUDER, 'utf8')}`)
      execFileSync('chmod', ['a+rwx', command])
    }
    writeFileSync(tool, '#!/bin/sh\nexec node "$@"\n')
    execFileSync('chmod', ['a+rx', tool])
    // Node may lie where no jail opens anything by itself, such as in the home.
    const start = { command, filesystem: { allowRead: [path.dirname(process.execPath)], allowWrite: [project] } }
    begin(process.execPath)
    expect(await does(readsIn(letters), place, maker, start)).toBe('failed: ENOENT')
    begin(tool)
    expect(await does(readsIn(letters), place, maker, { command })).toBe('private')
    await expect(does(readsIn(letters), place, maker, start)).rejects.toThrow('could not be started')
  })

  it.each<[string, (note: string) => Start]>([
    ['its definition denies', (note) => ({ filesystem: { denyRead: [note] } })],
    ['holds secrets of others', (note) => ({ hidden: [note] })],
  ])('does not read what %s by renaming a folder around it', async (_, startOf) => {
    needsCase()
    const place = makePlace()
    const { project } = place
    const { filesystem, ...rest } = startOf(path.join(project, 'in/deep/note'))
    const start = { ...rest, filesystem: { ...filesystem, allowWrite: [project] } }
    const renames = "fs.renameSync('in', 'away'); return 'renamed'"
    const [renamed, read] = await doesAll([renames, readsIn(path.join(project, 'in/deep'))], place, maker, start)
    expect(renamed).toBe('failed: EBUSY')
    expect(read).toMatch(/^failed/)
    expect(await does(renames, place, maker, { filesystem: { allowWrite: [project] } })).toBe('renamed')
  })

  it.each(['denyRead', 'denyWrite'] as const)(
    'is not started when %s names a link that it can replace',
    async (deny) => {
      const place = makePlace()
      const { project } = place
      symlinkSync('in/deep', path.join(project, 'link'))
      const start = { filesystem: { allowWrite: [project], [deny]: [path.join(project, 'link')] } }
      await expect(does(writesIn(path.join(project, 'in/deep')), place, maker, start)).rejects.toMatchObject({
        code: 'CONFIG_INVALID',
        message: expect.stringContaining(`replace the symbolic link ${path.join(project, 'link')}`) as string,
      })
    },
  )

  it('still follows links of its user, and those that stay in what it may write to', async () => {
    const place = makePlace()
    const { home, project, letters } = place
    symlinkSync(letters, path.join(home, 'mail'))
    symlinkSync('in/deep', path.join(project, 'inside'))
    const named = [path.join(home, 'mail'), path.join(project, 'inside')]
    const start = { filesystem: { allowRead: named, allowWrite: [project] } }
    expect(await doesAll(named.map(readsIn), place, maker, start)).toEqual(['private', 'private'])
    expect(readFileSync(path.join(letters, 'note'), 'utf8')).toBe('private')
  })
})
