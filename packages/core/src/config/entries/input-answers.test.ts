import { describe, expect, it } from 'vitest'
import { InputAnswers, missingInputs } from './input-answers.ts'
import type { ServerDefinition, ServerInput } from './server-definition.ts'
import { toServerBody } from './server-entry.ts'

const transport = {
  type: 'stdio' as const,
  command: 'x',
  args: ['--region=${input:region:-eu}', '${input:a-key}'],
  env: { KEY: 'Bearer ${input:a-key}', ZONE: '${input:zone}' },
}
const definition = (changes: Partial<ServerDefinition> = {}): ServerDefinition => ({
  name: 'srv',
  transport,
  source: { client: 'vscode', file: '/mcp.json' },
  ...changes,
})
const unknown = (id: string): ServerInput => ({ id, type: 'promptString', password: true })

/** The inputs of an entry with these `inputs` in its file. */
function inputsOf(inputs: unknown): ServerInput[] {
  const made = toServerBody({ ...transport, inputs })
  return 'body' in made ? (made.body.inputs ?? []) : expect.fail(made.reason)
}

it('inputs of a file are kept for the servers that need them, in the form that says how to ask', () => {
  const list = [
    { id: 'a-key', type: 'promptString', description: 'API key', password: true, default: 7 },
    { id: 'zone', type: 'pickString', options: ['a', { label: 'B', value: 'b' }, 7] },
    { id: 'region', type: 'command', command: 'x.y' },
    { id: 'elsewhere', type: 'promptString' },
  ]
  expect(inputsOf(list)).toEqual([
    { id: 'a-key', type: 'promptString', description: 'API key', password: true },
    { id: 'zone', type: 'pickString', options: ['a', 'b'] },
    { id: 'region', type: 'command' },
  ])
})

it('invalid inputs of a file become plain ones, or are left out', () => {
  expect(inputsOf([7, null, {}, { id: 7 }, { id: 'zone', type: 'pickString', options: {} }])).toEqual([
    { id: 'zone', type: 'promptString' },
  ])
  expect(inputsOf({ zone: {} })).toEqual([])
})

it('a missing input has no default and no variable, and is treated as a secret unless its file says otherwise', () => {
  expect(missingInputs(definition(), {})).toEqual([unknown('a-key'), unknown('zone')])
  const zone: ServerInput = { id: 'zone', type: 'promptString' }
  expect(missingInputs(definition({ inputs: [zone] }), { MCP_INPUT_A_KEY: '' })).toEqual([zone])
})

describe('answers', () => {
  /** A user who answers slowly, and the questions they were asked. */
  function person(answers: Record<string, string | undefined>) {
    const asked: string[] = []
    let open = 0
    const ask = async (server: string, { id }: ServerInput): Promise<string | undefined> => {
      open += 1
      asked.push(`${server} ${id} ${open}`)
      await new Promise((resolve) => setTimeout(resolve, 5))
      open -= 1
      return answers[id]
    }
    return { asked, answers: new InputAnswers(ask) }
  }

  it('an input is asked for once in a process, one at a time, however many servers need it', async () => {
    const { asked, answers } = person({ 'a-key': 'typed', zone: 'z' })
    const servers = ['one', 'two', 'three'].map((name) => definition({ name }))
    const found = await Promise.all(servers.map((server) => answers.forServer(server, {})))
    expect(asked).toEqual(['one a-key 1', 'one zone 1'])
    for (const answer of found) expect([answer('a-key'), answer('zone')]).toEqual(['typed', 'z'])
  })

  it('the answer to an input is used for one file only', async () => {
    const { asked, answers } = person({ 'a-key': 'typed', zone: 'z' })
    await answers.forServer(definition(), {})
    await answers.forServer(definition({ source: { client: 'vscode', file: '/other.json' } }), {})
    expect(asked).toHaveLength(4)
  })

  it('an input that the user does not answer is not asked for again', async () => {
    const { asked, answers } = person({ 'a-key': '', zone: 'z' })
    for (let i = 0; i < 2; i += 1) expect((await answers.forServer(definition(), {}))('a-key')).toBeUndefined()
    expect(asked).toHaveLength(2)
  })

  it('answers to inputs are missing where nobody can be asked', async () => {
    expect((await new InputAnswers().forServer(definition(), {}))('a-key')).toBeUndefined()
  })

  it('an input whose value a command inside VS Code finds has no answer', async () => {
    const { asked, answers } = person({})
    const command = definition({ inputs: [{ id: 'a-key', type: 'command' }] })
    await expect(answers.forServer(command, {})).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: expect.stringContaining('"a-key" is the result of a command'),
      hint: 'Set the environment variable MCP_INPUT_A_KEY.',
    })
    expect(asked).toEqual([])
    await answers.forServer(command, { MCP_INPUT_A_KEY: 'set' })
  })
})
