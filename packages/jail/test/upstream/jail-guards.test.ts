// This file verifies that a jailed server cannot make other programs run something through a folder that it may write
// to: not by changing, replacing or creating what git, editors and agents obey. Without a jail, the same server does
// it.
import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import path from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import type { ServerSandbox, StdioServer } from '../../../core/src/config/entries/server-definition.ts'
import type { JailMakerName } from '../../../core/src/isolation/jail-part.ts'
import { needsCase, skip } from '@sandbridge/core/test/support/suite/needs.ts'
import { JAIL_MAKERS } from './jail-makers.ts'
import { open, program, textOf } from '@sandbridge/core/test/upstream/support.ts'
import { newFolder } from '@sandbridge/core/test/support/machine/new-folder.ts'

const quoted = (text: string): string => JSON.stringify(text)
const create = (file: string): string => `create(${quoted(file)})`
const renameAway = (file: string): string => `try { rename(${quoted(file)}, 'away') } catch {}; `

const ATTACKS: [what: string, file: string, code: (file: string) => string][] = [
  ['git hooks, behind a renamed .git', '.git/hooks/pre-commit', (file) => renameAway('.git') + create(file)],
  ['the settings of git, behind a renamed .git', '.git/config', (file) => renameAway('.git') + create(file)],
  ['where git finds its hooks', '.git/commondir', create],
  ['a new .envrc', '.envrc', create],
  ['a new .mcp.json', '.mcp.json', create],
  ['a new .mcp.json that was renamed', '.mcp.json', (file) => `${create('plain')}; rename('plain', ${quoted(file)})`],
  ['a new .vscode', '.vscode/tasks.json', create],
  ['a new .vscode that was renamed', '.vscode/tasks.json', () => `${create('a/tasks.json')}; rename('a', '.vscode')`],
  ['a new .vscode in place of what guards it', '.vscode/tasks.json', (file) => renameAway('.vscode') + create(file)],
  ['a new .claude', '.claude/settings.json', create],
  ['a new .husky', '.husky/pre-commit', create],
  ['a new .github/mcp.json', '.github/mcp.json', create],
  [
    'a new .github/mcp.json behind a renamed .github',
    '.github/mcp.json',
    (file) => renameAway('.github') + create(file),
  ],
  [
    'rules of the project for this bridge',
    '.sandbridge/permissions.json',
    (file) => renameAway('.sandbridge') + create(file),
  ],
  ['what denyWrite names, behind a renamed folder', 'notes/fixed/a.txt', (file) => renameAway('notes') + create(file)],
]

/** Repositories with rules of their own and a note that their user protects, without settings of any editor. */
function makePlace(count = 1): { home: string; projects: string[]; project: string } {
  const folder = realpathSync(newFolder())
  const home = path.join(folder, 'home')
  mkdirSync(path.join(home, 'MCPs/.sandbridge/jail'), { recursive: true })
  const projects = Array.from({ length: count }, (_, index) => path.join(folder, `project-${index}`))
  for (const project of projects) {
    for (const one of ['.git/hooks', '.sandbridge', 'notes/fixed'])
      mkdirSync(path.join(project, one), { recursive: true })
    writeFileSync(path.join(project, '.git/config'), 'ours')
    writeFileSync(path.join(project, '.sandbridge/permissions.json'), 'ours')
  }
  // Root's jailed servers run as another user: what they may write must be writable, so that only the jail stops them.
  execFileSync('chmod', ['-R', 'a+rwX', folder])
  return { home, projects, project: projects[0]! }
}

/** Runs code in a server. */
function does(
  code: string,
  { home, project }: ReturnType<typeof makePlace>,
  maker: JailMakerName,
  filesystem?: ServerSandbox['filesystem'],
): { result: Promise<string>; close: () => Promise<void> } {
  const intruder = program(
    'intruder',
    path.join(import.meta.dirname, '../../../core/test/fixtures/servers/intruder.mjs'),
  )
  const transport = { ...(intruder.transport as StdioServer), ...(filesystem && { sandbox: { filesystem } }) }
  const upstreams = open([{ ...intruder, transport }], {
    jail: { home, stateDir: path.join(home, 'MCPs'), hidden: () => [], makers: [maker] },
    cwd: project,
  })
  const prelude = `const fs = require('node:fs')
    const rename = fs.renameSync
    const create = (file) => {
      fs.mkdirSync(require('node:path').dirname(file), { recursive: true })
      fs.writeFileSync(file, 'planted')
    }
    process.chdir(${quoted(project)})\n`
  const result = upstreams.callTool('intruder', 'run', { code: `${prelude}${code}; return 'done'` }).then(textOf)
  return { result, close: () => upstreams.close() }
}

const planted = (...parts: string[]): boolean => {
  const file = path.join(...parts)
  return existsSync(file) && readFileSync(file, 'utf8') === 'planted'
}

const listed = (folder: string): string[] => readdirSync(folder, { recursive: true }).map(String).toSorted()

describe.each(JAIL_MAKERS)('a server jailed by %s in a folder that it may write to', (maker, why) => {
  beforeEach(() => {
    if (why !== undefined) skip(why)
  })

  it('does not plant what other programs obey', async () => {
    /** Makes each attack in a project of its own. @returns those that succeeded */
    const succeeded = async (isJailed: boolean): Promise<string[]> => {
      const place = makePlace(ATTACKS.length)
      const { projects } = place
      const script = ATTACKS.map(
        ([, file, code], index) => `process.chdir(${quoted(projects[index]!)}); try { ${code(file)} } catch {}`,
      )
      const denyWrite = projects.map((project) => path.join(project, 'notes/fixed'))
      const { result, close } = does(
        script.join('\n'),
        place,
        maker,
        isJailed ? { allowWrite: projects, denyWrite } : undefined,
      )
      expect(await result).toBe('done')
      await close()
      return ATTACKS.flatMap(([what, file], index) => (planted(projects[index]!, file) ? [what] : []))
    }
    expect(await succeeded(false)).toEqual(ATTACKS.map(([what]) => what))
    expect(await succeeded(true)).toEqual([])
  })

  it('goes on writing to other files, and to .git when its definition names it; nothing of the guards is left', async () => {
    needsCase()
    const place = makePlace()
    const { project } = place
    const before = listed(project)
    const plain = does("create('new.txt'); rename('new.txt', 'notes/moved.txt')", place, maker, {
      allowWrite: [project],
    })
    expect(await plain.result).toBe('done')
    expect(planted(project, 'notes/moved.txt')).toBe(true)
    const named = does("create('.git/index'); create('.git/hooks/pre-commit')", place, maker, {
      allowWrite: [project, path.join(project, '.git')],
    })
    expect(await named.result).toBe('failed: EROFS')
    expect([planted(project, '.git/index'), planted(project, '.git/hooks/pre-commit')]).toEqual([true, false])
    // The guards of one server stay while another one needs them.
    await plain.close()
    expect(existsSync(path.join(project, '.envrc'))).toBe(true)
    await named.close()
    expect(listed(project)).toEqual([...before, '.git/index', 'notes/moved.txt'].toSorted())
  })

  it('is not started when a file that it must not change, or read, can be reached in another case', async () => {
    for (const [file, denied] of [
      ['.mcp.json', {}],
      ['secret.txt', { denyRead: 'secret.txt' }],
    ] as const) {
      const place = makePlace()
      const at = (name: string): string => path.join(place.project, name)
      writeFileSync(at(file), 'ours')
      chmodSync(at(file), 0o666)
      // As disks of macOS have it.
      if (!existsSync(at(file.toUpperCase()))) linkSync(at(file), at(file.toUpperCase()))
      const denyRead = Object.values(denied).map(at)
      const { result } = does('', place, maker, { allowWrite: [place.project], denyRead })
      await expect(result).rejects.toMatchObject({
        code: 'CONFIG_INVALID',
        message: expect.stringContaining(`${file.toUpperCase()} is the same file`) as string,
      })
      const named = does(`create(${quoted(file)})`, place, maker, { allowWrite: [place.project, at(file)] })
      expect(await named.result).toBe('done')
      await named.close()
    }
  })

  it('is not started when a symbolic link stands where a guard must be', async () => {
    const place = makePlace()
    symlinkSync('/nowhere', path.join(place.project, '.vscode'))
    const before = listed(place.project)
    const { result } = does('', place, maker, { allowWrite: [place.project] })
    await expect(result).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: expect.stringContaining('.vscode: it is a symbolic link') as string,
    })
    expect(listed(place.project)).toEqual(before)
  })
})
