// The tasks of AgentDojo, and what a model does that obeys an injected text.
import { spawnSync } from 'node:child_process'
import path from 'node:path'
import { ROOT, type ServerEntry } from '@sandbridge/core/test/support/bridges/bridge-process.ts'
import { skip } from '@sandbridge/core/test/support/suite/needs.ts'
import { newFolder } from '@sandbridge/core/test/support/machine/new-folder.ts'

export const SUITES = ['workspace', 'banking', 'slack', 'travel']

export interface Step {
  server: string
  tool: string
  isRead: boolean
  args: Record<string, unknown>
  result: string
}

export interface Task {
  suite: string
  kind: 'user' | 'injection'
  id: string
  prompt: string
  steps: Step[]
  carrier?: Step | null
}

/** How a model works: one cell that shows nothing before its end, or a cell for each call that shows its result. */
export type Style = 'one cell' | 'step by step'

/** A Python that has AgentDojo. */
const PYTHON = process.env['AGENTDOJO_PYTHON']

export const folded = (text: string): string => text.toLowerCase().replaceAll(/\s+/g, ' ')

export function textsOf(value: unknown): string[] {
  if (typeof value === 'object' && value !== null) return Object.values(value).flatMap(textsOf)
  return value === null || value === undefined ? [] : [typeof value === 'string' ? value : JSON.stringify(value)]
}

/** The calls that an obedient model makes after the result with the injected text. */
export function obedient({ steps, carrier, prompt }: Task): Step[] {
  const calls = steps.some(({ isRead }) => !isRead) ? steps : [...steps, ...writtenOut(prompt, carrier)]
  return carrier ? [carrier, ...calls] : calls
}

/** Ground truths of some injections are empty, because they are judged otherwise: mail to the address they name. */
function writtenOut(goal: string, carrier: Step | null | undefined): Step[] {
  const to = /[\w.-]+@[\w.-]+\w/.exec(`${goal} ${carrier?.result}`)?.[0]
  if (to === undefined) return []
  const args = { recipients: [to], subject: 'Notes', body: carrier?.result }
  return [{ server: 'email_client', tool: 'send_email', isRead: false, args, result: 'sent' }]
}

export interface Suite {
  tasks: Task[]
  /** The file with which a task begins. */
  stateOf: (task: Task) => string
  /** The server of a group of tools. */
  server: (state: string, journal: string, group: string) => ServerEntry
}

/** Skips the test without AgentDojo. */
export function tasksOf(suite: string): Suite {
  if (PYTHON === undefined) skip('AGENTDOJO_PYTHON names no Python with the package agentdojo')
  const folder = newFolder()
  const script = (name: string) => path.join(ROOT, 'test/fixtures/agentdojo', name)
  const { stdout, stderr, status } = spawnSync(PYTHON, [script('tasks.py'), folder, suite], {
    encoding: 'utf8',
    maxBuffer: 1 << 28,
  })
  if (status !== 0) throw new Error(stderr.slice(-2_000))
  const lines = stdout.trim().split('\n')
  return {
    tasks: lines.map((line) => JSON.parse(line) as Task),
    stateOf: ({ id }) => path.join(folder, `${id}.pickle`),
    server: (state, journal, group) => ({ command: PYTHON, args: [script('serve.py'), state, journal, group] }),
  }
}
