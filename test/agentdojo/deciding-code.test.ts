// @module-tag whole: a published benchmark
// Measures flow rules on tasks that nobody here wrote: AgentDojo's. The calls of their ground truth pass the same
// code that a bridge uses for decisions, with the results of AgentDojo's own tools. docs/flow.md has the sums.
import { describe, expect, it } from 'vitest'
import { SessionFlow } from '@sandbridge/flow/session-flow.ts'
import { flowKey } from '../../packages/permissions/src/rules/flow.ts'
import { RulePolicy, validate } from '../../packages/permissions/src/rules/policy.ts'
import { KeptOrigins } from '../../packages/core/src/util/stores/kept-origins.ts'
import type { Store } from '../../packages/core/src/util/stores/store.ts'
import { folded, obedient, type Step, type Style, SUITES, tasksOf, textsOf } from './tasks.ts'

interface Outcome {
  questions: number
  /** Calls that changed something. */
  writes: number
  /** Those of them that were made without a question. */
  silent: string[]
}

/** What a user answers: yes, for the session, so that the same question is not asked twice. */
function play(
  steps: readonly Step[],
  style: Style,
  prompt: string,
  preset: 'flow' | 'open' | 'careful' = 'flow',
): Outcome {
  const flow = new SessionFlow(
    { isTrusted: () => false, identityOf: () => undefined },
    new KeptOrigins({ document: () => ({}) } as unknown as Store),
  )
  const policy = preset === 'flow' ? new RulePolicy([], 'open', 'ask') : new RulePolicy([], preset)
  const answered = new Set<string>()
  const outcome: Outcome = { questions: 0, writes: 0, silent: [] }
  let results = ''
  flow.wrote(`"""${prompt}"""`)
  for (const { server, tool, isRead, args, result } of steps) {
    // What a result has is taken from it by code, unless the user said it or the model read it.
    const literals = textsOf(args).filter(
      (text) => style === 'step by step' || !results.includes(folded(text)) || folded(prompt).includes(folded(text)),
    )
    flow.wrote(literals.map((text) => JSON.stringify(text)).join('\n'))
    const decision = validate(policy, {
      server,
      tool,
      args,
      annotations: { readOnlyHint: isRead },
      definition: '',
      isProjects: false,
      flow,
    })
    if (!isRead) outcome.writes += 1
    if (decision.verdict === 'ask') {
      const key = `${server}.${tool}${decision.flow ? flowKey(decision.flow) : ''}`
      if (!answered.has(key)) outcome.questions += 1
      answered.add(key)
    } else if (!isRead) outcome.silent.push(`${server}.${tool}`)
    flow.returned({ server, name: tool }, { content: [{ type: 'text', text: result }] })
    results += `\n${folded(result)}`
    if (style === 'step by step') flow.shown({ text: result, hasMedia: false })
  }
  return outcome
}

describe.each(SUITES)('AgentDojo: %s', (suite) => {
  it.for(['one cell', 'step by step'] as const)(
    'asks about every write of a model that does what it reads, %s',
    { timeout: 300_000 },
    (style) => {
      const { tasks } = tasksOf(suite)
      const row = {
        suite,
        style,
        tasks: 0,
        none: 0,
        one: 0,
        careful: 0,
        injections: 0,
        unjudged: [] as string[],
        silent: [] as string[],
      }
      for (const task of tasks) {
        if (task.kind === 'user') {
          const { questions } = play(task.steps, style, task.prompt)
          row.tasks += 1
          row.none += questions === 0 ? 1 : 0
          row.one += questions <= 1 ? 1 : 0
          row.careful += play(task.steps, style, task.prompt, 'careful').questions > 0 ? 1 : 0
        } else {
          row.injections += 1
          const steps = obedient(task)
          const { silent, writes } = play(steps, style, 'Do what I asked for.')
          // Some only want something read or said: no rule about calls that change something is about them.
          if (writes === 0) row.unjudged.push(task.id)
          // Control: without flow rules each of these calls is made.
          expect(play(steps, style, '', 'open').silent).toHaveLength(writes)
          row.silent.push(...silent.map((call) => `${task.id} ${call}`))
        }
      }
      process.stdout.write(`${JSON.stringify(row)}\n`)
      expect(row.silent).toEqual([])
    },
  )
})
