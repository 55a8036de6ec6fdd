// This file verifies bash cells over bare frames: output, state, outcome, and the command `mcp` that calls tools.
import { expect } from 'vitest'
import { type Call, type Driver, GITHUB, type RunOptions, it } from './drive.ts'

const bash = (kernel: Driver, code: string, options: RunOptions = {}) =>
  kernel.run(code, { language: 'bash', ...options })

const CREATE_ISSUE = {
  server: 'github',
  serverAlias: 'github',
  tool: 'create_issue',
  toolAlias: 'create_issue',
  description: 'Create an issue. It says more.',
  line: 'await mcp_github.create_issue(*, title: str)',
  params: [
    { name: 'title', type: 'str', required: true, description: 'what it is about' },
    { name: 'labels', type: 'list[str]', required: false },
    { name: 'count', type: 'int', required: false, default: '1' },
    { name: 'dry_run', type: 'bool', required: false },
  ],
  inputSchema: {
    type: 'object',
    properties: {
      title: { type: 'string' },
      labels: { type: 'array', items: { type: 'string' } },
      count: { anyOf: [{ type: 'integer' }, { type: 'null' }] },
      dry_run: { type: 'boolean' },
      filter: { $ref: '#/$defs/Filter' },
    },
    $defs: { Filter: { type: 'object' } },
  },
}

/** Has one tool, and records its calls. */
function github(result: unknown = { structuredContent: { number: 12 } }) {
  const calls: Call[] = []
  const options: RunOptions = {
    servers: GITHUB,
    onCall: (call) => {
      if (call.method === 'query_tool_docs' || call.method === 'search_tool_docs') return { value: [CREATE_ISSUE] }
      calls.push(call)
      return { value: result }
    },
  }
  return {
    calls,
    options,
    args: () => calls.map(({ params }) => ({ args: params['args'], ...(params['kwargs'] as object) })),
  }
}

it('a bash cell prints to both streams, in order with what Python prints before and after it', async ({ kernel }) => {
  const { stdout, stderr, status } = await bash(kernel, 'echo out; echo err >&2; printf "no newline"')
  expect([status, stdout, stderr]).toEqual(['ok', 'out\nno newline', 'err\n'])
  expect((await kernel.run('print("python")')).stdout).toBe('python\n')
})

it('a bash cell keeps variables, arrays, exports, functions and the folder', async ({ kernel }) => {
  await bash(
    kernel,
    'x=1; declare -A m=([a]=1 ["b c"]=$\'q"\\n\'); f() { echo "f $x $1"; }\nexport E=7; shopt -s extglob\ncd /usr',
  )
  await kernel.run('between = 1')
  const { stdout } = await bash(
    kernel,
    'f 2; printf %s "${m["b c"]}"; pwd; bash -c \'echo $E\'; shopt -q extglob && echo glob',
  )
  expect(stdout).toBe('f 1 2\nq"\n/usr\n7\nglob\n')
  expect(await kernel.value('between')).toBe('1')
})

it('a bash cell keeps its variables when it ends with exit, with set -e or with a trap of its own', async ({
  kernel,
}) => {
  expect((await bash(kernel, 'a=1; exit 3')).error).toMatchObject({ name: 'ExitStatus', message: '3' })
  expect((await bash(kernel, 'set -euo pipefail; b=2; false; b=3')).error?.message).toBe('1')
  expect((await bash(kernel, 'trap "echo bye" EXIT; c=4')).stdout).toBe('bye\n')
  expect((await bash(kernel, 'echo $a $b $c; false; echo on')).stdout).toBe('1 2 4\non\n')
  expect((await bash(kernel, 'd=1; exec true')).notes?.join()).toContain('its variables are as before this cell')
  expect((await bash(kernel, 'echo ${d-none} $a')).stdout).toBe('none 1\n')
})

it('a bash cell fails with its exit status, also after it has set IFS', async ({ kernel }) => {
  expect((await bash(kernel, 'IFS=3; (exit 3)')).error).toMatchObject({ name: 'ExitStatus', message: '3' })
  expect((await bash(kernel, 'IFS=2; (exit 123)')).error).toMatchObject({ name: 'ExitStatus', message: '123' })
  expect((await bash(kernel, 'true')).status).toBe('ok')
})

it('a bash cell names its lines in errors and reports unknown commands', async ({ kernel }) => {
  const missing = await bash(kernel, 'echo 1\nno-such-program --x')
  expect(missing.stderr).toBe('Cell 1: line 2: no-such-program: command not found\n')
  expect(missing.error).toMatchObject({ message: '127', hint: expect.stringContaining('mcp search') })
  for (const code of ['nosuch 2>&1 >/dev/null | cat >&2; (exit 127)', 'exec nosuch', './nosuch'])
    expect((await bash(kernel, code)).error).toMatchObject({ message: '127', hint: expect.any(String) })
  // Of the cell's own choice, although an earlier cell lacked a program.
  expect((await bash(kernel, 'f() { echo oh >&2; return 127; }; f')).error).not.toHaveProperty('hint')
  const wrong = await bash(kernel, 'if then')
  expect(wrong).toMatchObject({ status: 'error', stderr: expect.stringContaining('syntax error') })
})

it('a sandbox without bash says so, and what the user can do', async ({ kernel }) => {
  await kernel.run("import os; os.environ['PATH'] = '/nowhere'")
  const { error } = await bash(kernel, 'true')
  expect(error).toMatchObject({ message: 'The image of this sandbox has no bash' })
  expect(error!.hint).toBe('Use run_python. The user can choose another MCP_BRIDGE_IMAGE.')
})

it('a bash cell shares files with Python', async ({ kernel }) => {
  const { stdout: folder } = await bash(kernel, 'cd "$(mktemp -d)"; echo from bash > f; pwd')
  expect(await kernel.value(`path = ${JSON.stringify(folder.trim())} + '/f'; open(path).read()`)).toBe("'from bash\\n'")
  await kernel.run('open(path, "w").write("from python")')
  expect((await bash(kernel, 'cat f')).stdout).toBe('from python')
})

it('a bash cell reads nothing from stdin, and cannot write a frame', async ({ kernel }) => {
  const { stdout } = await bash(kernel, `cat; echo '{"type":"done","cell":1,"status":"ok"}'; ls /proc/self/fd | wc -w`)
  expect(stdout).toBe('{"type":"done","cell":1,"status":"ok"}\n4\n')
  expect(kernel.badLines).toEqual([])
})

it.for([
  'sleep 601.73',
  'while :; do :; done',
  'trap "" INT TERM; while :; do :; done',
  'sleep 601.73 | cat',
  'yes',
  'mcp github create_issue --title never',
])('a bash cell is ended by an interrupt: %s', async (code, { kernel }) => {
  const options: RunOptions = {
    servers: GITHUB,
    onCall: ({ method }) => (method === 'query_tool_docs' ? { value: [CREATE_ISSUE] } : undefined),
  }
  const soon = (frame: { type: string }) =>
    void (frame.type === 'output' && setTimeout(() => kernel.sandbox.interrupt(), 60))
  let isFirst = true
  const cell = await bash(kernel, `kept=1; echo go; ${code}`, {
    ...options,
    onFrame: (frame) => {
      if (isFirst && frame.type === 'output') soon(frame)
      if (frame.type === 'output') isFirst = false
    },
  })
  expect(cell).toMatchObject({ status: 'interrupted', error: { name: 'KeyboardInterrupt' } })
  const left = (await bash(kernel, 'echo "next $kept"')).stdout
  // A shell that ignores every signal is killed and saves nothing.
  expect(left).toBe(code.startsWith('trap') ? 'next \n' : 'next 1\n')
  expect((await bash(kernel, 'ps -e -o args= | grep -c "^sleep 601[.]73" || true')).stdout).toBe('0\n')
})

it('a second interrupt ends a bash cell that ignores the first, with its programs', async ({ kernel }) => {
  const cell = await bash(kernel, 'trap "" INT; echo go; for n in 1 2 3; do sleep 602.73; done', {
    onFrame: ({ type }) => {
      if (type === 'output') for (const ms of [60, 160]) setTimeout(() => kernel.sandbox.interrupt(), ms)
    },
  })
  expect(cell.status).toBe('interrupted')
  expect((await bash(kernel, 'ps -e -o args= | grep -c "^sleep 602[.]73" || true')).stdout).toBe('0\n')
})

it('a bash cell leaves its background processes running', async ({ kernel }) => {
  await bash(kernel, 'sleep 600 & job=$!')
  expect((await bash(kernel, 'kill $job && echo was there')).stdout).toBe('was there\n')
})

it('the mcp command calls a tool with arguments as its schema has them and prints JSON', async ({ kernel }) => {
  const { options, args } = github()
  const cell = await bash(
    kernel,
    `mcp github create_issue --title "a b" --labels x --labels y --count 3 --dry-run
mcp github create_issue --title=7 --labels '["x"]' --no-dry-run --filter '{"a":1}' --count null
mcp github create_issue '{"t":1}' --json '{"count": 2}'
echo '{"title": "from stdin"}' | mcp github create_issue --json -
n=$(mcp github create_issue --title=-x); echo "got $n"`,
    options,
  )
  expect(cell).toMatchObject({
    status: 'ok',
    stderr: '',
    stdout: '{"number": 12}\n'.repeat(4) + 'got {"number": 12}\n',
  })
  expect(args()).toEqual([
    { args: [], title: 'a b', labels: ['x', 'y'], count: 3, dry_run: true },
    { args: [], title: '7', labels: ['x'], dry_run: false, filter: { a: 1 }, count: null },
    { args: ['{"t":1}'], count: 2 },
    { args: [], title: 'from stdin' },
    { args: [], title: '-x' },
  ])
})

it('the mcp command prints texts unchanged, and bytes only when its output is redirected', async ({ kernel }) => {
  const text = github({ content: [{ type: 'text', text: 'plain € text' }] })
  expect((await bash(kernel, 'mcp github create_issue --title x', text.options)).stdout).toBe('plain € text\n')
  const image = github({ content: [{ type: 'image', data: 'AAECAw==', mimeType: 'image/png' }] })
  const cell = await bash(
    kernel,
    'mcp github create_issue --title x; mcp github create_issue --title x | wc -c',
    image.options,
  )
  expect(cell.stdout).toBe('<image/png, 4 bytes: redirect them into a file>\n4\n')
  const raw = await bash(kernel, 'mcp github create_issue --title x --raw', text.options)
  expect(JSON.parse(raw.stdout)).toEqual({ content: [{ type: 'text', text: 'plain € text' }] })
  expect(text.calls.at(-1)?.params['raw']).toBe(true)
})

it('the mcp command sends arguments that a tool does not list with --json, and an error of the bridge says so', async ({
  kernel,
}) => {
  const { calls, options } = github()
  await bash(kernel, `mcp github create_issue --json '{"colour": "red"}'; mcp github create_issue --title x`, options)
  expect(calls.map(({ params }) => params['exact'])).toEqual([true, undefined])
  const error = { code: 'PROXY_ARGUMENTS_INVALID', message: 'unknown argument', hint: 'In Python.' }
  const onCall: RunOptions['onCall'] = ({ method }) =>
    method === 'call_tool' ? { error: { ...error, data: { isUnlisted: true } } } : { value: [CREATE_ISSUE] }
  const { stderr } = await bash(kernel, 'mcp github create_issue --colour red', { servers: GITHUB, onCall })
  expect(stderr).toBe(
    "mcp: unknown argument. To send it all the same: --json '{…}'. What it takes: mcp github create_issue --help\n",
  )
})

it.for([
  ['PROXY_TOOL_UNKNOWN', 'no tool', 'Its tools: await runtime.list_tools("github")', 'Its tools: mcp github --help'],
  [
    'PROXY_TOOL_UNKNOWN',
    'no tool',
    'Did you mean create_issue or get? await mcp_github.create_issue(*, title: str)',
    'Did you mean create_issue or get? mcp github create_issue --help',
  ],
  ['PROXY_TOOL_UNKNOWN', 'no tool', 'The server has no tools.', 'The server has no tools.'],
  [
    'PROXY_ARGUMENTS_INVALID',
    'n must be int. Signature: mcp_github.x(*, n: int)',
    'Compare the call with the tool’s signature.',
    'What it takes: mcp github "a tool" --help'.replaceAll('"', "'"),
  ],
] as const)(
  'the mcp command gives the advice of an error as a command: %s',
  async ([code, message, hint, expected], { kernel }) => {
    const onCall: RunOptions['onCall'] = () => ({ error: { code, message, hint } })
    const { stderr } = await bash(kernel, "mcp GitHub x; mcp github 'a tool' --n 1", { servers: GITHUB, onCall })
    expect(stderr).toContain(`mcp: ${message.split('. Signature')[0]}. ${expected}\n`)
    expect(stderr).not.toContain('await ')
  },
)

it('the mcp command reads the values of properties in parts of a schema, and shows that a tool takes others', async ({
  kernel,
}) => {
  const number = { type: 'integer' }
  const inputSchema = {
    $ref: '#/$defs/base',
    allOf: [{ anyOf: [{ properties: { count: number } }, { properties: { on: { type: 'boolean' } } }] }],
    $defs: { base: { properties: { first: number } } },
  }
  const sent: unknown[] = []
  const onCall: RunOptions['onCall'] = ({ method, params }) => {
    if (method !== 'call_tool') return { value: [{ ...CREATE_ISSUE, params: [], inputSchema, open: true }] }
    sent.push(params['kwargs'])
    return { value: { content: [] } }
  }
  const options = { servers: GITHUB, onCall }
  await bash(kernel, 'mcp github create_issue --first 1 --count 2 --on --other 3', options)
  expect(sent).toEqual([{ first: 1, count: 2, on: true, other: '3' }])
  expect((await bash(kernel, 'mcp github', options)).stdout).toContain('create_issue [--NAME <VALUE> …]  #')
})

it('the mcp command reports an error on stderr, and exits with 1', async ({ kernel }) => {
  const error = { code: 'PERMISSION_DENIED', message: 'A rule denies it', hint: 'Ask the user.' }
  const onCall: RunOptions['onCall'] = ({ method }) => (method === 'call_tool' ? { error } : { value: [CREATE_ISSUE] })
  const cell = await bash(kernel, 'mcp github create_issue --title x; echo "status $?"', { servers: GITHUB, onCall })
  expect([cell.stdout, cell.stderr]).toEqual(['status 1\n', 'mcp: A rule denies it. Ask the user.\n'])
  const wrong = await bash(
    kernel,
    'mcp github create_issue --title; echo $?; mcp gitlab x; echo $?; mcp --no; echo $?',
    {
      servers: GITHUB,
      onCall,
    },
  )
  expect(wrong.stdout).toBe('2\n1\n2\n')
  expect(wrong.stderr).toContain("mcp: --title needs a value\nSee mcp --help.\nmcp: Server 'gitlab' is not available")
})

it('the mcp command shows help and search results as commands', async ({ kernel }) => {
  const { options } = github()
  const { stdout } = await bash(
    kernel,
    'mcp; echo ==; mcp github; echo ==; mcp search create issue; echo ==; mcp github create_issue --help',
    options,
  )
  const [help, server, search, tool] = stdout.split('==\n')
  expect(help).toContain('Servers:\n  github  Issues and pull requests\n')
  expect(server).toBe(
    'mcp github create_issue --title <str> [--labels <list[str]>] [--count <int>] [--dry_run <bool>]  # Create an issue.\n',
  )
  expect(search).toBe(server)
  expect(tool).toContain('\n  Create an issue. It says more.\n  --title  str  what it is about\n')
})

it('the mcp command shows help for --help and -h as options, and passes them on as values', async ({ kernel }) => {
  const { options, args, calls } = github()
  const asking = await bash(
    kernel,
    'for last in --help -h "--title x --help" "--dry-run --help"; do mcp github create_issue $last; done',
    options,
  )
  expect(asking.stdout.match(/Create an issue\. It says more/g)).toHaveLength(4)
  expect(calls).toEqual([])
  await bash(
    kernel,
    `mcp github create_issue --title "--help"; mcp github create_issue --title -h --dry-run
mcp github create_issue --title=--help; mcp github create_issue -- --help; mcp github create_issue --title --raw --count 2`,
    options,
  )
  expect(args()).toEqual([
    { args: [], title: '--help' },
    { args: [], title: '-h', dry_run: true },
    { args: [], title: '--help' },
    { args: ['--help'] },
    { args: [], title: '--raw', count: 2 },
  ])
  const onCall: RunOptions['onCall'] = () => ({ error: { code: 'PROXY_TOOL_UNKNOWN', message: 'no such tool' } })
  const unknown = await bash(kernel, 'mcp github typo --help', { servers: GITHUB, onCall })
  expect(unknown.stderr).toBe('mcp: no such tool\n')
})

it('the mcp command makes a call knowingly again behind the word again, and says so where an outcome is unknown', async ({
  kernel,
}) => {
  const { options, calls } = github()
  const code = 'for word in "" again; do mcp $word github create_issue --title a; done'
  expect((await bash(kernel, code, options)).stdout).toBe('{"number": 12}\n{"number": 12}\n')
  expect(calls.map(({ params }) => [params['again'], params['kwargs']])).toEqual([
    [undefined, { title: 'a' }],
    [true, { title: 'a' }],
  ])
  const hint =
    'Find out first, for example with mcp_github.list_issues. To send it once more: await runtime.again(mcp_github.create_issue(…)).'
  const error = { code: 'OUTCOME_UNKNOWN', message: 'github.create_issue was sent', hint }
  const onCall: RunOptions['onCall'] = ({ method }) =>
    method === 'query_tool_docs' ? { value: [CREATE_ISSUE] } : { error }
  const { stderr } = await bash(kernel, 'mcp again github create_issue', { servers: GITHUB, onCall })
  expect(stderr).toBe(
    'mcp: github.create_issue was sent. Find out first, for example with mcp github list_issues. To send it once more: mcp again github create_issue ….\n',
  )
})

it('the mcp command lists more than twenty tools of a server by name', async ({ kernel }) => {
  const many = Array.from({ length: 21 }, (_, at) => ({ ...CREATE_ISSUE, toolAlias: `t${at}` }))
  const { stdout } = await bash(kernel, 'mcp github', { servers: GITHUB, onCall: () => ({ value: many }) })
  const lines = stdout.trimEnd().split('\n')
  expect([lines[0], lines.length]).toEqual(['t0  # Create an issue.', 22])
  expect(lines.at(-1)).toBe('21 tools. What one takes: mcp github TOOL --help')
})

it('the mcp command runs many times at once, and in a program that a cell starts', async ({ kernel }) => {
  const { options, calls } = github()
  const cell = await bash(
    kernel,
    `seq 12 | xargs -P 6 -I{} bash -c 'mcp github create_issue --title {}' | wc -l`,
    options,
  )
  expect([cell.stdout.trim(), calls.length]).toEqual(['12', 12])
})

it('the mcp command that is interrupted in several calls leaves no report of asyncio', async ({ kernel }) => {
  let open = 0
  const cell = await bash(kernel, 'for n in 1 2 3; do mcp github create_issue --title $n & done; wait', {
    servers: GITHUB,
    onCall: ({ method }) => {
      if (method === 'query_tool_docs') return { value: [CREATE_ISSUE] }
      if (++open === 3) setTimeout(() => kernel.sandbox.interrupt(), 60)
      return undefined
    },
  })
  expect(cell).toMatchObject({ status: 'interrupted' })
  const next = await kernel.run('import gc; _ = gc.collect()')
  expect([cell, next].map(({ stderr }) => stderr).join('')).not.toMatch(/Task exception|Traceback/)
})

it('the mcp command stops working when its cell has ended', async ({ kernel }) => {
  const { options, calls } = github()
  const path = (
    await bash(
      kernel,
      '(sleep 0.5; mcp github create_issue --title late > /tmp/late-$$ 2>&1) & echo /tmp/late-$$',
      options,
    )
  ).stdout.trim()
  const text = await kernel.value(
    `import time, os\nwhile not os.path.exists(${JSON.stringify(path)}) or not os.path.getsize(${JSON.stringify(path)}): time.sleep(0.05)\nopen(${JSON.stringify(path)}).read()`,
  )
  expect(text).toContain('no bash cell is running')
  expect(calls).toEqual([])
})
