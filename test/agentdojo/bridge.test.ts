// Measures flow rules on tasks that nobody here wrote, with the built bridge: AgentDojo's groups of tools are its
// servers, and cells make the calls of the ground truth. docs/flow.md has the sums.
import { hash } from 'node:crypto'
import { copyFileSync, existsSync, readFileSync, rmSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { makeHome } from '@sandbridge/core/test/support/bridges/bridge-process.ts'
import { startHttpBridge } from '@sandbridge/core/test/support/bridges/http-bridge.ts'
import { folded, obedient, type Step, type Style, SUITES, type Task, tasksOf } from './tasks.ts'

/** Takes values from what calls returned, by their hashes: the cell does not have them. */
const HELPERS = `
import hashlib
returned = {}
def take(call, length, sha256):
    for text in (returned[call], " ".join(returned[call].lower().split())):
        for at in range(len(text) - length + 1):
            if hashlib.sha256(text[at:at + length].encode()).hexdigest() == sha256:
                return text[at:at + length]
    raise KeyError(sha256)
`

/** An argument in Python: a value that only results have is taken from the last one that has it. */
function written(value: unknown, results: readonly string[], prompt: string): string {
  if (Array.isArray(value)) return `[${value.map((one) => written(one, results, prompt)).join(', ')}]`
  if (typeof value === 'object' && value !== null) {
    const fields = Object.entries(value).map(([key, one]) => `${JSON.stringify(key)}: ${written(one, results, prompt)}`)
    return `{${fields.join(', ')}}`
  }
  if (value === null || value === undefined) return 'None'
  if (typeof value === 'boolean') return value ? 'True' : 'False'
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  const call = results.findLastIndex((result) => folded(result).includes(folded(text)))
  if (text === '' || call === -1 || folded(prompt).includes(folded(text))) return JSON.stringify(value)
  const found = results[call]!.includes(text) ? text : folded(text)
  const length = found.replaceAll(/[\uD800-\uDBFF]/g, '').length
  const taken = `take(${call}, ${length}, "${hash('sha256', found)}")`
  return typeof value === 'string' ? taken : `float(${taken})`
}

/** The calls as cells. A call that fails or is refused does not keep the model from the next one. */
function cellsOf(steps: readonly Step[], style: Style, prompt: string): string[] {
  const isOne = style === 'one cell'
  const results = isOne ? steps.map(({ result }) => result) : []
  const cells = steps.map(({ server, tool, args }, at) => {
    const code = `
try:
    result = await runtime.call_tool("${server}", "${tool}", ${written(args, results.slice(0, at), prompt)})
    returned[${at}] = str(result)
except Exception as error:
    result = str(error)
`
    return isOne ? code : `${code}result`
  })
  return isOne ? [`${HELPERS}${cells.join('')}`] : [HELPERS, ...cells]
}

async function openSuite(suite: string, flow: 'off' | 'ask') {
  const { tasks, stateOf, server } = tasksOf(suite)
  const home = makeHome()
  const [state, journal] = [path.join(home, 'state'), path.join(home, 'journal')]
  const groups = new Set(tasks.flatMap(({ steps, carrier }) => [...steps, carrier].map((step) => step?.server)))
  groups.delete(undefined)
  const servers = Object.fromEntries([...groups].map((group) => [group, server(state, journal, group!)]))
  copyFileSync(stateOf(tasks[0]!), state)
  const bridge = await startHttpBridge({ home: makeHome(servers), env: { MCP_BRIDGE_FLOW: flow } })
  /** A session of its own for each task. @returns questions, and the calls that changed something */
  const play = async (task: Task, steps: readonly Step[], style: Style, answer: string) => {
    copyFileSync(stateOf(task), state)
    rmSync(journal, { force: true })
    const questions: string[] = []
    const { client, transport } = await bridge.connect('legacy', {
      capabilities: { elicitation: { form: {} } },
      atEnd: () => {},
      prepare: (asked) =>
        asked.setRequestHandler('elicitation/create', ({ params }) => {
          questions.push(params.message)
          return { action: 'accept', content: { answer } }
        }),
    })
    const answers: string[] = []
    for (const code of cellsOf(steps, style, task.kind === 'user' ? task.prompt : 'Do what I asked for.')) {
      const { content } = await client.callTool({ name: 'run_python', arguments: { code } }, { timeout: 120_000 })
      answers.push(content.map((block) => (block.type === 'text' ? block.text : '')).join(''))
    }
    await transport.terminateSession()
    await client.close()
    const writes = existsSync(journal) ? readFileSync(journal, 'utf8').trim().split('\n') : []
    return { questions, writes, answers }
  }
  return { tasks, play }
}

describe.each(SUITES)('AgentDojo in a bridge: %s', (suite) => {
  it.for(['one cell', 'step by step'] as const)(
    'makes no injected call without a question, and asks little about the tasks of users, %s',
    { timeout: 900_000 },
    async (style) => {
      const { tasks, play } = await openSuite(suite, 'ask')
      const silent: string[] = []
      const unjudged: string[] = []
      for (const task of tasks.filter(({ kind }) => kind === 'injection')) {
        const steps = obedient(task)
        const { questions, writes, answers } = await play(task, steps, style, 'no')
        if (steps.every(({ isRead }) => isRead)) unjudged.push(task.id)
        else if (questions.length === 0) silent.push(`${task.id} asks nothing: ${answers.join('\n')}`)
        silent.push(...writes.map((call) => `${task.id} ${call}`))
      }
      const counts: Record<string, number> = {}
      for (const task of tasks.filter(({ kind }) => kind === 'user')) {
        const { questions, writes } = await play(task, task.steps, style, 'yes, this tool for the session')
        counts[task.id] = questions.length
        // Nothing was refused or failed on the way.
        expect(writes.length, task.id).toBeGreaterThanOrEqual(task.steps.filter(({ isRead }) => !isRead).length)
      }
      const all = Object.values(counts)
      const most = (count: number) => all.filter((one) => one <= count).length
      const row = { suite, style, tasks: all.length, none: most(0), one: most(1), unjudged, silent, counts }
      process.stdout.write(`${JSON.stringify(row)}\n`)
      expect(silent).toEqual([])
    },
  )

  it('control: each of these calls is made without flow rules', { timeout: 900_000 }, async () => {
    const { tasks, play } = await openSuite(suite, 'off')
    for (const task of tasks.filter(({ kind }) => kind === 'injection')) {
      const steps = obedient(task)
      const { questions, writes } = await play(task, steps, 'one cell', 'no')
      expect([questions.length, writes.length], task.id).toEqual([0, steps.filter(({ isRead }) => !isRead).length])
    }
  })
})
