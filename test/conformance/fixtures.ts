// What the server scenarios of the conformance suite call, made with the bridge's own means: workflows that the bridge
// offers as tools and prompts, servers that ask the client something, and artifacts.
import { fixtureServer } from '@sandbridge/core/test/support/bridges/bridge-process.ts'

const asks = (method: string, params?: object) =>
  fixtureServer('raw.mjs', 'asks', method, ...(params ? [JSON.stringify(params)] : []))
const form = (properties: object) => ({ message: 'Please answer', requestedSchema: { type: 'object', properties } })
const titled = (...titles: string[]) => titles.map((title, index) => ({ const: `value${index + 1}`, title }))
const options = ['option1', 'option2', 'option3']

export const ASKERS = {
  user: asks('elicitation/create', form({ name: { type: 'string' } })),
  model: asks('sampling/createMessage', {
    messages: [{ role: 'user', content: { type: 'text', text: 'What is the capital of France?' } }],
    maxTokens: 100,
  }),
  roots: asks('roots/list'),
  defaults: asks(
    'elicitation/create',
    form({
      name: { type: 'string', default: 'John Doe' },
      age: { type: 'integer', default: 30 },
      score: { type: 'number', default: 95.5 },
      status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
      verified: { type: 'boolean', default: true },
    }),
  ),
  enums: asks(
    'elicitation/create',
    form({
      untitledSingle: { type: 'string', enum: options },
      titledSingle: { type: 'string', oneOf: titled('First Option', 'Second Option', 'Third Option') },
      legacyEnum: {
        type: 'string',
        enum: ['opt1', 'opt2', 'opt3'],
        enumNames: ['Option One', 'Option Two', 'Option Three'],
      },
      untitledMulti: { type: 'array', items: { type: 'string', enum: options } },
      titledMulti: { type: 'array', items: { anyOf: titled('First Choice', 'Second Choice', 'Third Choice') } },
    }),
  ),
}

/**
 * Each tool has servers of its own: some scenarios leave a question open, and the next question of that server could
 * then belong to either call.
 */
export const SERVERS: Record<string, ReturnType<typeof asks>> = {}

/** An expression that calls a server which asks. */
function asking(kind: keyof typeof ASKERS): string {
  const name = `${kind}${Object.keys(SERVERS).length}`
  SERVERS[name] = ASKERS[kind]
  return `str(await mcp_${name}.echo(text="x"))`
}

/** Each question that its client cannot be asked is a line of the log. */
function logging(): string[] {
  const ask = asking('roots')
  return ['import asyncio', 'for _ in range(3):', `    print(${ask})`, '    await asyncio.sleep(0.05)']
}

/** Asks through another server at each call: most scenarios that call this leave its question open. */
function inTurn(count: number): string[] {
  const calls = Array.from({ length: count }, () => asking('user'))
  return [
    'turn = runtime.update_memory("turn", lambda before: before + 1, 0)',
    ...calls.map((ask, index) => `if turn % ${count} == ${index}: return ${ask}`),
  ]
}

export const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
export const WAV = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEARKwAAIhYAQACABAAZGF0YQAAAAA='

/** The body of each workflow, by the name that the suite calls it. */
const WORKFLOWS: Record<string, string[]> = {
  test_simple_text: ['print("This is a simple text response for testing.")'],
  test_image_content: [
    'import base64',
    'class Dot:',
    `    def _repr_png_(self): return base64.b64decode("${PNG}")`,
    'display(Dot())',
  ],
  test_audio_content: [
    'class Sound:',
    `    def _repr_mimebundle_(self, include=None, exclude=None): return {"audio/wav": "${WAV}"}`,
    'display(Sound())',
  ],
  test_tool_with_logging: logging(),
  test_error_handling: ['raise ValueError("This tool intentionally returns an error for testing")'],
  test_tool_with_progress: [
    'import asyncio',
    'for done in (0, 50, 100):',
    '    runtime.progress(done, 100)',
    '    await asyncio.sleep(1.1)',
  ],
  'test_sampling(prompt: str = "")': [`return ${asking('model')}`],
  'test_elicitation(message: str = "")': [`return ${asking('user')}`],
  test_elicitation_sep1034_defaults: [`return ${asking('defaults')}`],
  test_elicitation_sep1330_enums: [`return ${asking('enums')}`],
  test_simple_prompt: ['pass'],
  'test_prompt_with_arguments(arg1: str = "", arg2: str = "")': ['pass'],
  test_input_required_result_elicitation: inTurn(6),
  test_input_required_result_sampling: [`return ${asking('model')}`],
  test_input_required_result_list_roots: [`return ${asking('roots')}`],
  test_input_required_result_request_state: [`return ${asking('user')}`],
  test_input_required_result_multi_round: [asking('user'), `return ${asking('user')}`],
  test_input_required_result_tampered_state: [`return ${asking('user')}`],
  test_input_required_result_capabilities: [`return ${asking('model')}`],
}
const NAMES = Object.keys(WORKFLOWS).map((signature) => signature.replace(/\(.*/, ''))

/** Workflows have hyphens where the suite has underscores. */
export const ourName = (name: string) => (NAMES.includes(name) ? name.replaceAll('_', '-') : name)

export const EXPOSED = NAMES.map(ourName).join(',')

/** Cells that keep the workflows, and two artifacts. */
export const SETUP = [
  ...Object.entries(WORKFLOWS).map(([signature, body], index) =>
    [
      `async def ${signature.includes('(') ? signature : `${signature}()`}:`,
      `    """A fixture of the conformance suite."""`,
      ...body.map((line) => `    ${line}`),
      `runtime.save_workflow("${ourName(NAMES[index]!)}", ${NAMES[index]})`,
    ].join('\n'),
  ),
  'runtime.save_artifact("static.txt", "This is the content of the static text resource.")',
  `import base64\nruntime.save_artifact("static.png", base64.b64decode("${PNG}"))`,
]
