// This file verifies `sandbridge top` in a terminal: it shows what bridges do, restores the terminal, and prints plain
// lines elsewhere.
import { existsSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { bridgeEnv, CLI, fixtureServer, makeHome } from '../support/bridge-process.ts'
import { inTerminal, needsTerminal } from '../support/in-terminal.ts'
import { runProgram } from '../support/run-program.ts'
import { startBridge } from '../support/start-bridge.ts'

const ENTER = '<?1049h<?25l'
const LEAVE = '<?25h<?1049l'

/** The screens that were shown, in order. */
function screensOf(shown: string): string[] {
  const inside = shown.slice(shown.indexOf(ENTER) + ENTER.length, shown.indexOf(LEAVE))
  return inside.split('<H<J').slice(1)
}

// Making the snapshot of the embedded sandbox can take a while.
describe('sandbridge top', { timeout: 120_000 }, () => {
  it('sandbridge top shows sessions, cells, calls and servers as they come and go, and restores the terminal', async () => {
    needsTerminal()
    const home = makeHome()
    const journal = path.join(home, 'journal')
    const servers = { raw: fixtureServer('raw.mjs', 'slow', journal), gone: fixtureServer('raw.mjs', 'exit') }
    writeFileSync(path.join(home, 'MCPs/servers.json'), JSON.stringify({ mcpServers: servers }))
    const bridge = await startBridge({ home })
    await bridge.run('try:\n    await mcp_gone.echo(text="x")\nexcept Exception:\n    pass')
    const go = path.join(home, 'go')
    const top = `${process.execPath} ${CLI} top`
    // The shell reads the terminal's input, so that a step can be typed while the command runs.
    const script = `stty -g > ${home}/before; ${top} & top=$!; read go; touch ${go}; read stop; kill -INT $top; wait $top; echo "ended $?"; stty -g | cmp - ${home}/before && echo same`
    const shown = inTerminal(['sh', '-c', script], bridgeEnv(home), {
      steps: [
        ['1 session', 'go\n'],
        ['raw__echo', 'stop\n'],
      ],
    })
    while (!existsSync(go)) await sleep(20)
    const ended = new AbortController()
    const call = bridge
      .call({ code: '# \u001b[31mred\nawait mcp_raw.echo(text="x")' }, { signal: ended.signal })
      .catch(() => {})
    const text = await shown
    ended.abort()
    await call
    expect(text.split(ENTER)).toHaveLength(2)
    expect(text.split(LEAVE)).toHaveLength(2)
    expect(text.slice(text.indexOf(LEAVE))).toMatch(/ended 130\nsame\n$/)
    const screens = screensOf(text)
    expect(screens[0]).toMatch(/inspector-cli.* pid \d+, .*: 1 session, 1 cell, 0 calls/s)
    expect(screens[0]).toMatch(/<31m {2}failed<39m .*gone: 0 calls\. .*exited/)
    const last = screens.find((screen) => screen.includes('raw__echo'))!
    expect(last).toMatch(/<36m {2}cell 2<39m +\d+\.\d s/)
    expect(last).toMatch(/ {2}call +\d+\.\d s +raw__echo/)
    expect(last).toMatch(/<32m {2}running<39m +– +raw: 0 calls/)
    // What a cell prints is shown as text, without control sequences.
    expect(last).not.toContain('<31mred')
  })

  it('sandbridge top prints plain lines once where there is no terminal', async () => {
    const bridge = await startBridge({ servers: { raw: fixtureServer('raw.mjs', 'good') } })
    await bridge.run('await mcp_raw.echo(text="x")')
    const env = bridgeEnv(bridge.home)
    const { code, stdout } = await runProgram(process.execPath, [CLI, 'top'], env)
    expect(code).toBe(0)
    expect(stdout).toMatch(/^inspector-cli pid \d+, .*: 1 session, 1 cell, 1 call\n {2}running +\d+ ms +raw: 1 call\n$/)
    expect(stdout).not.toContain('\u001b')
    const { stdout: asJson } = await runProgram(process.execPath, [CLI, 'top', '--json'], env)
    const [only] = JSON.parse(asJson) as Record<string, unknown>[]
    expect(only).toMatchObject({
      pid: bridge.servingPid,
      counts: { cells: 1, calls: 1 },
      servers: { raw: { calls: 1 } },
    })
    expect(only).not.toHaveProperty('socket')
    const nobody = await runProgram(process.execPath, [CLI, 'top'], bridgeEnv('/nowhere'))
    expect(nobody).toMatchObject({ code: 0, stdout: '', stderr: expect.stringContaining('No bridge runs') as string })
  })
})

describe('sandbridge log in a terminal', { timeout: 120_000 }, () => {
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
})
