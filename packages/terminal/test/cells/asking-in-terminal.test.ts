// @module-tag whole: it waits for terminals
// This file verifies that `exec`, `shell` and `run-workflow` ask about calls in their terminal, and that nothing is
// called without one.
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { bridgeEnv, CLI, fixtureServer, makeHome } from '@sandbridge/core/test/support/bridges/bridge-process.ts'
import { inTerminal, needsTerminal, type Step } from '@sandbridge/core/test/support/machine/in-terminal.ts'
import { writePermissions } from '@sandbridge/core/test/support/bridges/ruled-bridge.ts'
import { runCommand } from '@sandbridge/core/test/support/machine/run-program.ts'

const call = (id: string) => `i = ${id}; await mcp_hub.create_issue(title="a\\u202e", id=i, owner="acme")`
const caught = (id: string) =>
  `try:\n    ${call(id)}\n    print("call" + "ed")\nexcept runtime.PermissionDenied as error:\n    print("den" + "ied:", error)`
const ASKED = '1 to 6, or nothing for no: '

let home: string

beforeEach(() => {
  home = makeHome()
  const servers = { hub: fixtureServer('ruled.mjs', path.join(home, 'journal')) }
  writeFileSync(path.join(home, 'MCPs/servers.json'), JSON.stringify({ mcpServers: servers }))
  writePermissions(home, { ask: ['hub__create_issue', 'hub__delete_repo'] })
})

const reached = () => {
  const journal = path.join(home, 'journal')
  return existsSync(journal) ? readFileSync(journal, 'utf8').trim().split('\n').length : 0
}

describe('in a terminal', () => {
  beforeEach(needsTerminal)
  const shows = (steps: Step[], args: string[], env: Record<string, string> = {}) =>
    inTerminal([process.execPath, CLI, ...args], bridgeEnv(home, { IN_TERMINAL_LIMIT: '80', ...env }), {
      cwd: home,
      steps,
    })

  it('exec in a terminal shows the call with its arguments and its rule, and makes it for a yes', async () => {
    const shown = await shows([[ASKED, '1\r']], ['exec', '-c', caught('1 + 6')])
    expect(shown).toContain('to call hub.create_issue\n  owner: "acme"\n  title: "a\\u202e"\n  id: 7\n')
    expect(shown).toContain('Asked because of the rule ask "hub__create_issue" (permissions.json, line 1).')
    expect(shown).toContain('  1. yes, this once\n  2. yes, calls like this for the rest of the cell\n')
    expect(shown).toContain('called')
    expect(reached()).toBe(1)
  })

  it.each([
    ['nothing', '\r', 'denied: hub.create_issue was not allowed: the user said no'],
    ['no', '5\r', 'denied: hub.create_issue was not allowed: the user said no'],
    ['a word', 'yes\r', 'denied: hub.create_issue was not allowed: the user said no'],
    ['a number beyond', '7\r', 'denied: hub.create_issue was not allowed: the user said no'],
    ['no, and stop the code', '6\r', 'stopped the cell'],
    ['the end of input', '\u0004', 'denied: hub.create_issue was not allowed: the user said no'],
    ['Ctrl-C', '\u0003', ASKED],
  ])('exec in a terminal makes no call for %s', async (_, typed, expected) => {
    const shown = await shows([[ASKED, typed]], ['exec', '-c', caught('1')])
    expect(shown).toContain(expected)
    expect(shown).not.toContain('called\n')
    expect(reached()).toBe(0)
  })

  it('exec in a terminal stops the time of the cell while the user thinks, and denies a call without an answer in time', async () => {
    const slow = { IN_TERMINAL_WAIT: '7' }
    const code = caught('1')
    const [inTime, late] = await Promise.all([
      shows([[ASKED, '1\r']], ['exec', '-t', '5', '-c', code], slow),
      shows([[ASKED, '1\r']], ['exec', '-c', code], { ...slow, MCP_BRIDGE_ASK_TIMEOUT: '5' }),
    ])
    expect(inTime).toContain('called')
    expect(late).toContain('no answer came within 5 s')
    expect(reached()).toBe(1)
  })

  it('exec in a terminal ignores what was typed before the question', async () => {
    const early = 'print("now" + " type")\nimport time\ntime.sleep(1.5)\n' + caught('1')
    const shown = await shows(
      [
        ['now type', '1\r1\r'],
        [ASKED, '\r'],
      ],
      ['exec', '-c', early],
    )
    expect(shown).toContain('the user said no')
    expect(reached()).toBe(0)
  })

  it('exec in a terminal asks once about calls that it can see, and draws nothing over the question', async () => {
    await runCommand(['index'], bridgeEnv(home), { cwd: home })
    const code = 'await mcp_hub.create_issue(id=1)\nawait mcp_hub.delete_repo(id=2)\nprint("both" + " made")'
    const shown = await shows([[ASKED, '1\r']], ['exec', '-c', code], { IN_TERMINAL_WAIT: '1' })
    expect(shown).toContain('Before it runs: the code wants to make 2 calls:')
    expect(shown.split(ASKED)).toHaveLength(2)
    expect(/nothing for no: (?<after>[^]*)/.exec(shown)!.groups!['after']).toMatch(/^(<28G)?1\r?\n/)
    expect(shown).toContain('both made')
    expect(reached()).toBe(2)
  })

  it('a shell asks between its prompts, and keeps what was allowed for the session', async () => {
    const steps: Step[] = [
      ['>>> ', `${call('1')}\r`],
      [ASKED, '3\r'],
      ['did create_issue', ''],
      ['>>> ', `${call('2')}\r`],
      ['did create_issue', ''],
      ['>>> ', 'i = 3; await mcp_hub.delete_repo(id=i)\r'],
      [ASKED, '\u0003'],
      ['KeyboardInterrupt', ''],
      ['>>> ', '40 + 2\r'],
      ['42', ''],
      ['>>> ', '\u0004'],
    ]
    const shown = await shows(steps, ['shell'])
    expect(shown).not.toContain('waited in vain')
    expect(reached()).toBe(2)
  })

  it('sandbridge approve offers the same answers', async () => {
    const shown = await shows([[ASKED, '2\r']], ['exec', '-c', caught('1')])
    const answers = /(?: {2}\d\. .*\n)+/.exec(shown)![0]
    expect(answers.trim().split('\n')).toHaveLength(6)
    const question = { id: 'a'.repeat(16), text: 'May it?', pid: process.pid, asking: 'x', until: Date.now() + 60_000 }
    const folder = path.join(home, 'MCPs/.sandbridge/questions')
    spawnSync('mkdir', ['-p', folder])
    writeFileSync(path.join(folder, `${question.id}.json`), JSON.stringify(question))
    const approved = await shows([['1 to 6, or nothing to leave it open: ', '5\r']], ['approve'])
    expect(approved).toContain(`May it?\n${answers}`)
    expect(approved).toContain('Answered: no.')
  })
})

it('exec without a terminal makes no call and says what allows it, which does', async () => {
  const exec = () => runCommand(['exec', '-c', call('1')], bridgeEnv(home), { cwd: home })
  const { stderr, code } = await exec()
  expect(stderr).toContain('hub.create_issue was not allowed: there is no terminal to ask in')
  const command = /sandbridge (permissions --allow hub__create_issue)/.exec(stderr)![1]!
  expect([code, reached()]).toEqual([1, 0])
  // No question stays open for a command that has ended.
  const open = await runCommand(['approve', '--json'], bridgeEnv(home), { cwd: home })
  expect(JSON.parse(open.stdout)).toEqual([])
  expect((await runCommand(command.split(' '), bridgeEnv(home), { cwd: home })).code).toBe(0)
  expect((await exec()).stdout).toContain('did create_issue')
  expect(reached()).toBe(1)
})
