// This file verifies bash cells with the built bridge in bubblewrap: the tool, the command `mcp`, rules, limits, and an
// attack on the command's socket.
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'
import { bridgeEnv, CLI, type TestBridge } from '../support/bridges/bridge-process.ts'
import { providerOrSkip, runtimeEnv } from '../support/sandboxes/engines.ts'
import { ruledBridge, sharedRuledBridge } from '../support/bridges/ruled-bridge.ts'
import { runProgram } from '../support/machine/run-program.ts'
import { startBridge } from '../support/bridges/start-bridge.ts'

const ENV = { ...runtimeEnv('bubblewrap'), MCP_BRIDGE_LANGUAGES: 'python,bash' }
const shared = sharedRuledBridge({ env: { ...ENV, MCP_BRIDGE_AUDIT: 'replay' } })

const bash = (bridge: TestBridge, code: string, args: Record<string, unknown> = {}) =>
  bridge.callTool('run_bash', { code, ...args })

it('run_bash is a tool only where MCP_BRIDGE_LANGUAGES names it', async () => {
  const { bridge: without } = await ruledBridge()
  const [python] = (await without.client.listTools()).tools
  await expect(bash(without, 'echo hi')).rejects.toThrow(/Unknown tool 'run_bash'; the only one is run_python/)
  const { client } = shared({}).bridge
  const { tools } = await client.listTools()
  expect(tools.map(({ name }) => name)).toEqual(['run_python', 'run_bash'])
  expect(tools[0]).toEqual(python)
  await expect(client.callTool({ name: 'run_ruby', arguments: {} })).rejects.toThrow(
    /there are run_python and run_bash/,
  )
})

it('run_bash has the annotations of run_python', async () => {
  const { client } = await startBridge({ env: { ...ENV, MCP_BRIDGE_PERMISSIONS: 'readonly' } })
  const { tools } = await client.listTools()
  expect(tools.map(({ annotations }) => annotations)).toEqual([{ readOnlyHint: true }, { readOnlyHint: true }])
})

it('run_bash is not listed where there is no bash, and says so when it is called', async () => {
  const bridge = await startBridge({ env: { ...runtimeEnv('pyodide'), MCP_BRIDGE_LANGUAGES: 'bash' } })
  expect((await bridge.client.listTools()).tools.map(({ name }) => name)).toEqual(['run_python'])
  const { text, isError } = await bash(bridge, 'echo hi')
  expect([isError, text]).toEqual([
    true,
    expect.stringMatching(/The embedded sandbox has no bash\nHint: Use run_python/),
  ])
  expect(await bridge.run('1 + 1')).toBe('2')
  expect((await bash(bridge, ' ')).text).toContain(
    "'code' is empty: pass the bash source to run\nCorrect the arguments and call the tool again.",
  )
  expect((await bash(bridge, 'echo', { cwd: '/' })).text).toContain('run_bash takes code, servers and timeout')
})

it('run_bash calls tools, keeps variables and shares the session with Python', async () => {
  await providerOrSkip('bubblewrap')
  const { bridge, reached } = shared({})
  const cells = Number(await bridge.run('runtime.session().cellCount'))
  const { text, isError } = await bash(bridge, 'kept=1; mcp hub create_issue --title "a b" --id 7; echo text > f')
  expect([isError, text]).toEqual([false, 'did create_issue'])
  expect(reached()).toEqual([['create_issue', { title: 'a b', id: '7' }]])
  expect(await bridge.run('print(open("f").read(), runtime.session().cellCount)')).toBe(`text\n ${cells + 2}`)
  expect((await bash(bridge, 'echo "kept $kept"; mcp search create issue')).text).toMatch(
    /^kept 1\nmcp hub create_issue .*# Tool create_issue$/m,
  )
  const failed = await bash(bridge, 'mcp hub no_such_tool')
  expect([failed.isError, failed.text]).toEqual([true, expect.stringMatching(/mcp: .*no_such_tool[^]*Exit status 1\./)])
})

it('run_bash is refused calls that a rule denies, whichever way it makes them', async () => {
  await providerOrSkip('bubblewrap')
  const { bridge, reached } = shared({ deny: ['hub__delete_*'] })
  const { text } = await bash(
    bridge,
    `mcp hub delete_repo --id 1; echo "status $?"; mcp hub Delete-Repo; mcp hub delete_repo --raw --json '{"id":1}'
echo '{}' | mcp hub delete_repo --json -; bash -c 'mcp hub delete_repo'; mcp hub get_issue --id 1`,
  )
  expect(text).toContain('status 1')
  expect(text.match(/is denied by the rule/g)).toHaveLength(5)
  expect(reached(), 'the same way leads to what is allowed').toEqual([['get_issue', { id: '1' }]])
})

it('run_bash is distinguished from Python in the record', async () => {
  await providerOrSkip('bubblewrap')
  const { bridge, home } = shared({})
  await bash(bridge, 'mcp hub get_issue --id recorded')
  const lineOf = (type: string) => {
    const files = readdirSync(home, { recursive: true, encoding: 'utf8' }).filter((file) =>
      /audit.*\.jsonl$/.test(file),
    )
    const lines = files.flatMap((file) => readFileSync(path.join(home, file), 'utf8').split('\n'))
    return lines.find((line) => line.includes(`"type":"${type}"`) && line.includes('recorded'))
  }
  await expect.poll(() => lineOf('run')).toContain('"tool":"run_bash"')
  expect(lineOf('call')).toContain('"name":"get_issue"')
  const { run: id } = JSON.parse(lineOf('run')!) as Record<string, string>
  const saved = await runProgram(process.execPath, [CLI, 'save', id!, 'report'], bridgeEnv(home), { cwd: home })
  expect([saved.code, saved.stderr], 'it is no Python to make a function of').toEqual([
    2,
    expect.stringContaining('is a cell of run_bash'),
  ])
})

/** Writes to the socket of `mcp`, as any process of the sandbox can. */
const SPEAK = `import glob, socket, sys
def speak(data, wait=True):
    one = socket.socket(socket.AF_UNIX)
    one.settimeout(20)
    one.connect(glob.glob('/tmp/bash-*/socket')[0])
    try:
        one.sendall(data)
        one.shutdown(1)
    except OSError:
        pass
    got = b''
    try:
        while piece := one.recv(65536): got += piece
    except OSError:
        pass
    return got[:200]
`

it('the socket of mcp in a bash cell refuses garbage, floods and forged frames', async () => {
  await providerOrSkip('bubblewrap')
  const { bridge, reached } = shared({ deny: ['hub__delete_*'] })
  const attack = `cat > speak.py <<'EOF'
${SPEAK}
frame = b'{"type":"call","id":1,"cell":1,"method":"call_tool","params":{"server":"hub","tool":"delete_repo","args":[],"kwargs":{}}}\\n'
for data in (b'', b'\\xff' * 5000, frame, b'2 0\\nhub\\0', b'99999999 0\\n', b'-1 0\\n', b'x' * (20 << 20), b'2 0\\nhub\\0delete_repo\\0'):
    print(speak(data))
held = []
for _ in range(200):
    one = socket.socket(socket.AF_UNIX)
    try:
        one.connect(glob.glob('/tmp/bash-*/socket')[0])
    except OSError:
        pass
    held.append(one)
print('held')
for one in held: one.close()
EOF
python3 speak.py; sleep 0.3; mcp hub get_issue --id 2; rm -rf /tmp/bash-*; mcp hub get_issue --id 3`
  const { text } = await bash(bridge, attack, { timeout: 60 })
  expect(text.match(/the request is malformed/g)).toHaveLength(5)
  expect(text).toContain('there are more than 4096 arguments')
  expect(text).toContain('the arguments are larger than 8 MiB')
  expect(text).toContain('is denied by the rule')
  expect(text).toContain('held')
  expect(reached(), 'what is asked for as it should be is still done').toEqual([['get_issue', { id: '2' }]])
  expect((await bash(bridge, 'mcp hub get_issue --id 4')).text).toContain('did get_issue')
  expect(await bridge.run('1 + 1')).toBe('2')
})
