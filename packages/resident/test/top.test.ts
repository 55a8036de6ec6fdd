// This file verifies `sandbridge top` and `sandbridge log` in a terminal: they show what bridges do, and restore the
// terminal.
import { existsSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { beforeEach, expect, it } from 'vitest'
import { bridgeEnv, CLI, fixtureServer, makeHome } from '@sandbridge/core/test/support/bridges/bridge-process.ts'
import { inTerminal, needsTerminal } from '@sandbridge/core/test/support/machine/in-terminal.ts'
import { needsPosix } from '@sandbridge/core/test/support/suite/needs.ts'
import { residentHome } from '@sandbridge/core/test/support/bridges/resident-clients.ts'
import { startBridge } from '@sandbridge/core/test/support/bridges/start-bridge.ts'

beforeEach(() => needsPosix('residents of Windows have tests of their own: windows.test.ts'))

const ENTER = '<?1049h<?25l'
const LEAVE = '<?25h<?1049l'

/** The screens that were shown, in order. */
function screensOf(shown: string): string[] {
  const inside = shown.slice(shown.indexOf(ENTER) + ENTER.length, shown.indexOf(LEAVE))
  return inside.split('<H<J').slice(1)
}

it('sandbridge top shows sessions, cells, calls and servers as they come and go, and restores the terminal', async () => {
  needsTerminal()
  const journal = path.join(makeHome(), 'journal')
  const house = residentHome({
    raw: fixtureServer('raw.mjs', 'slow', journal),
    gone: fixtureServer('raw.mjs', 'exit'),
  })
  const ann = await house.connect('ann')
  await ann.run('try:\n    await mcp_gone.echo(text="x")\nexcept Exception:\n    pass')
  const { home } = house
  const { cwd, env } = house.placeOf('ann')
  const go = path.join(home, 'go')
  const top = `${process.execPath} ${CLI} top`
  // The shell reads the terminal's input, so that a step can be typed while the command runs.
  const script = `stty -g > ${home}/before; ${top} & top=$!; read go; touch ${go}; read stop; kill -INT $top; wait $top; echo "ended $?"; stty -g | cmp - ${home}/before && echo same`
  const shown = inTerminal(
    ['sh', '-c', script],
    { ...env, IN_TERMINAL_LIMIT: '80' },
    {
      cwd,
      steps: [
        ['1 session', 'go\n'],
        ['raw__echo', 'stop\n'],
      ],
    },
  )
  while (!existsSync(go)) await sleep(20)
  void ann.run('# \u001b[31mred\nawait mcp_raw.echo(text="x")')
  const text = await shown
  expect(text.split(ENTER)).toHaveLength(2)
  expect(text.split(LEAVE)).toHaveLength(2)
  expect(text.slice(text.indexOf(LEAVE))).toMatch(/ended 130\nsame\n$/)
  const screens = screensOf(text)
  expect(screens[0]).toMatch(/<1mResident \d+<22m, version .*: 1 session, 1 cell, 0 calls/)
  expect(screens[0]).toMatch(/ {2}session +\d+\.\d s +inspector-cli in .*\/ann: 1 cell/)
  expect(screens[0]).toMatch(/<31m {2}failed<39m .*gone: 0 calls\. .*exited/)
  const last = screens.find((screen) => screen.includes('raw__echo'))!
  expect(last).toMatch(/<36m {2}cell 2<39m +\d+\.\d s/)
  expect(last).toMatch(/ {2}call +\d+\.\d s +raw__echo/)
  expect(last).toMatch(/<32m {2}running<39m +– +raw: 0 calls/)
  // What a cell prints is shown as text, without control sequences.
  expect(last).not.toContain('<31mred')
})

it('sandbridge log in a terminal follows in colour, and shows what others wrote as text', async () => {
  needsTerminal()
  const name = 'odd\u001b[31m\u009b\u202e'
  const bridge = await startBridge({ servers: { raw: fixtureServer('raw.mjs', 'good') }, clientName: name })
  await bridge.run('await mcp_raw.echo(text="x")')
  const { home } = bridge
  const go = path.join(home, 'go')
  const script = `${process.execPath} ${CLI} log --follow & log=$!; read go; touch ${go}; read stop; kill -INT $log`
  const shown = inTerminal(['sh', '-c', script], bridgeEnv(home), {
    steps: [
      ['raw__echo', 'go\n'],
      ['error', 'stop\n'],
    ],
  })
  while (!existsSync(go)) await sleep(20)
  await bridge.run('1/0')
  const lines = (await shown).split('\n')
  expect(lines.find((line) => line.includes('raw__echo'))).toMatch(/<1mraw__echo<22m +<32mok<39m/)
  const failed = lines.find((line) => line.includes('error'))!
  expect(failed).toContain('<31merror<39m')
  expect(failed).toContain('<31mZeroDivisionError<39m')
  expect(failed).not.toContain('odd<31m')
  expect(failed).not.toContain('\u009b')
  expect(failed).not.toContain('\u202e')
})
