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

it('qwen passes text and errors on, each once', { timeout: AGENT_TIMEOUT_MS }, async (context) => {
  const { read, turnCount, program } = await runAgent('qwen', [CELLS.text, CELLS.image, CELLS.error], context)
  expect(turnCount, program.stderr).toBe(4)
  for (const shown of [SHOWN.text, SHOWN.image, SHOWN.error]) expect(occurrences(read, shown), shown).toBe(1)
  // It tells a model without eyes that there is an image.
  expect(read).toContain('image/png')
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
