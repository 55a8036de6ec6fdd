// This file verifies that published agents give their models what cells show: each runs with a stub instead of its
// model.
//   npm ci --prefix test/clients --ignore-scripts
import { expect, it } from 'vitest'
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

it('opencode waits for a cell that is silent for 75 s', { timeout: AGENT_TIMEOUT_MS }, async (context) => {
  const { read } = await runAgent('opencode', [CELLS.long], context)
  expect(read).toContain(SHOWN.long)
})
