// @module-tag whole: it runs published agents
// This file verifies that published agents give their models what cells show: each runs with a stub instead of its
// model.
//   npm ci --prefix test/clients --ignore-scripts
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { makeHome } from '@sandbridge/core/test/support/bridges/bridge-process.ts'
import { needsPosix } from '@sandbridge/core/test/support/suite/needs.ts'
import { until } from '@sandbridge/core/test/support/machine/processes.ts'
import { isAlive, kill } from '@sandbridge/core/test/support/bridges/resident-clients.ts'
import { type AgentName, runAgent } from './agents.ts'
import { CELLS, IMAGE, SHOWN } from './cells.ts'

const AGENTS: AgentName[] = ['opencode', 'gemini', 'codex']
const AGENT_TIMEOUT_MS = 180_000

const occurrences = (text: string, part: string) => text.split(part).length - 1

it.for(AGENTS)(
  '%s passes text, images and errors on, each once',
  { timeout: AGENT_TIMEOUT_MS },
  async (name, context) => {
    const { read, turnCount, program } = await runAgent(name, [CELLS.text, CELLS.image, CELLS.error], context)
    expect(turnCount, program.stderr).toBe(4)
    for (const shown of [SHOWN.text, SHOWN.image, SHOWN.error]) expect(occurrences(read, shown), shown).toBe(1)
    expect(occurrences(read, IMAGE)).toBe(1)
    expect(program.code).toBe(0)
  },
)

it('qwen passes text and errors on, each once', { timeout: AGENT_TIMEOUT_MS }, async (context) => {
  const { read, turnCount, program } = await runAgent('qwen', [CELLS.text, CELLS.image, CELLS.error], context)
  expect(turnCount, program.stderr).toBe(4)
  for (const shown of [SHOWN.text, SHOWN.image, SHOWN.error]) expect(occurrences(read, shown), shown).toBe(1)
  // It tells a model without eyes that there is an image.
  expect(read).toContain('image/png')
  expect(program.code).toBe(0)
})

it('copilot passes text and errors on, each once', { timeout: AGENT_TIMEOUT_MS }, async (context) => {
  const { read, turnCount, program } = await runAgent('copilot', [CELLS.text, CELLS.image, CELLS.error], context)
  expect(turnCount, program.stderr).toBe(4)
  // It leaves images out for a model that is not one of its own.
  for (const shown of [SHOWN.text, SHOWN.image, SHOWN.error]) expect(occurrences(read, shown), shown).toBe(1)
  expect(program.code).toBe(0)
})

it.for(['continue', 'cline'] as const)(
  '%s passes text and errors on, each once, and a link in place of an image',
  { timeout: AGENT_TIMEOUT_MS },
  async (name, context) => {
    const { read, turnCount, program } = await runAgent(name, [CELLS.text, CELLS.image, CELLS.error], context)
    expect(turnCount, program.stderr).toBe(4)
    for (const shown of [SHOWN.text, SHOWN.image, SHOWN.error]) expect(occurrences(read, shown), shown).toBe(1)
    expect(read).toContain('sandbridge://artifact/image-')
    expect(read).not.toContain(IMAGE)
    expect(program.code).toBe(0)
  },
)

// What follows waits for more than a minute each, all at the same time.
it.concurrent.for(['continue', 'cline'] as const)(
  '%s gets an answer before it gives a cell up, and its result with the next one',
  { timeout: AGENT_TIMEOUT_MS },
  async (name, context) => {
    const { read, turnCount, program } = await runAgent(name, [CELLS.long, CELLS.text], context)
    expect(turnCount, program.stderr).toBe(3)
    const places = ['and goes on', SHOWN.long, SHOWN.text].map((part) => read.indexOf(part))
    expect(places).not.toContain(-1)
    expect(places).toEqual(places.toSorted((a, b) => a - b))
  },
)

it.concurrent.for(['opencode', 'qwen'] as const)(
  '%s waits for a cell that is silent for 75 s',
  { timeout: AGENT_TIMEOUT_MS },
  async (name, context) => {
    const { read } = await runAgent(name, [CELLS.long], context)
    expect(read).toContain(SHOWN.long)
  },
)

it('opencode, gemini and qwen at once share a resident, and no variables', { timeout: 240_000 }, async (context) => {
  needsPosix('residents of Windows have tests of their own')
  const home = makeHome()
  const folder = path.join(home, 'MCPs/.sandbridge/run')
  const residents = (): number[] => {
    const logs = readdirSync(folder).filter((name) => name.endsWith('.log'))
    const text = logs.map((name) => readFileSync(path.join(folder, name), 'utf8')).join('')
    return [...text.matchAll(/bridge runs pid=(\d+)/g)].map((found) => Number(found[1]))
  }
  onTestFinished(async () => {
    for (const pid of residents()) kill(pid, 'SIGTERM')
    await until(() => !residents().some((pid) => isAlive(pid)))
  })
  const settings = { MCP_BRIDGE_RESIDENT: 'on idle=60' }
  const agents = (['opencode', 'gemini', 'qwen'] as const).map(async (name) => {
    const cells = [`assert 'mine' not in globals()\nmine = '${name}'`, "print('I am ' + mine)"]
    const { read, program, turnCount } = await runAgent(name, cells, context, home, settings)
    expect(turnCount, program.stderr).toBe(3)
    expect(read).toContain(`I am ${name}`)
    expect(read).not.toContain('AssertionError')
  })
  await Promise.all(agents)
  expect(residents()).toHaveLength(1)
})
