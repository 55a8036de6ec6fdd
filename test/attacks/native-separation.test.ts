// This file verifies what must not pass from one native sandbox to another or outlive it, and what a hostile kernel can
// do to the bridge. The control is always the same check where it works: in a second cell of the same sandbox.
import { readdirSync } from 'node:fs'
import { beforeEach, describe, expect, it } from 'vitest'
import type { Provider } from '../../packages/core/src/isolation/provider.ts'
import { sharedCells, startCells } from '@sandbridge/core/test/support/sandboxes/cell-runner.ts'
import { makeProvider, whyNot, type TestedProvider } from '@sandbridge/core/test/support/sandboxes/engines.ts'
import { openPods } from '@sandbridge/kubernetes/test/support/fake-cluster/pods.ts'
import { runningProcesses, until } from '@sandbridge/core/test/support/machine/processes.ts'
import { needsLinux, needsWholeRun, skip } from '@sandbridge/core/test/support/suite/needs.ts'

const pods = await openPods()
const ENGINES = ['podman', 'docker', 'bubblewrap', 'bubblewrap-image', 'bubblewrap-fork', 'kubernetes'] as const

/** One sandbox for tests that leave it usable. */
const sharedIn = (engine: TestedProvider) =>
  sharedCells({ start: async (limits) => (await openProvider(engine)).start(limits) })

async function openProvider(engine: TestedProvider): Promise<Provider> {
  const provider = engine === 'kubernetes' ? pods.provider : makeProvider(engine)
  const reason = await whyNot(provider)
  if (reason !== undefined) skip(reason)
  return provider
}

const TRACES: { what: string; leave: string; look: string }[] = [
  ...['/tmp', '/workspace', '/dev/shm'].map((folder) => ({
    what: `a file in ${folder}`,
    leave: `open('${folder}/trace', 'w').write('x')`,
    look: `import os\nprint('SEEN' if os.path.exists('${folder}/trace') else 'nothing')`,
  })),
  {
    what: 'an abstract Unix socket',
    leave: "import socket\nlistener = socket.socket(socket.AF_UNIX)\nlistener.bind('\\0trace')\nlistener.listen()",
    look: "import socket\ntry:\n    socket.socket(socket.AF_UNIX).connect('\\0trace')\n    print('SEEN')\nexcept OSError: print('nothing')",
  },
  {
    what: 'a changed module',
    leave: 'import math\nmath.pi = 3',
    look: "import math\nprint('SEEN' if math.pi == 3 else 'nothing')",
  },
  {
    what: 'a process',
    leave: // Popen returns before the kernel shows the arguments.
      "import subprocess, time\nsubprocess.Popen(['sleep', '98412365'], start_new_session=True)\ntime.sleep(0.3)",
    look: `
import glob
def command(path):
    try: return open(path).read()
    except OSError: return ''
print('SEEN' if any('98412365' in command(path) for path in glob.glob('/proc/[0-9]*/cmdline')) else 'nothing')`,
  },
]

describe.each(ENGINES)('%s: nothing crosses', (engine) => {
  // Containers of docker are started as those of podman, and images change nothing of what bubblewrap shares.
  beforeEach(() => {
    if (engine === 'docker' || engine === 'bubblewrap-image') needsWholeRun()
  })
  const [shared, another] = [sharedIn(engine), sharedIn(engine)]
  for (const { what, leave, look } of TRACES) {
    it(`another sandbox cannot see ${what}`, async () => {
      const [first, second] = await Promise.all([shared(), another()])
      expect((await first.run(leave)).error?.traceback).toBeUndefined()
      expect((await first.run(look)).output).toBe('SEEN\n')
      expect((await second.run(look)).output).toBe('nothing\n')
    })
  }

  it('a daemon that leaves its session and process group ends with the sandbox', async () => {
    const provider = await openProvider(engine)
    const cells = await startCells(provider)
    const mark = `314${process.pid}`
    const daemon = `
import os, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        for fd in range(64):
            try: os.close(fd)
            except OSError: pass
        os.execvp('sleep', ['sleep', '${mark}'])
    os._exit(0)
time.sleep(0.3)`
    await cells.run(daemon)
    const isThere = () => runningProcesses().some(({ command }) => command.startsWith(`sleep ${mark}`))
    expect(isThere()).toBe(true)
    await cells.kernel.dispose()
    await until(() => !isThere())
  })

  it('a fork bomb in one sandbox leaves another working', async () => {
    const provider = await openProvider(engine)
    const [bomber, other] = await Promise.all([startCells(provider), startCells(provider)])
    const bomb = `
import os, time
children = 0
try:
    while True:
        if os.fork() == 0: time.sleep(600)
        children += 1
except OSError: print('full')
time.sleep(600)`
    const bombing = bomber.run(bomb)
    await bomber.printed('full')
    const counted = "import subprocess\nsubprocess.run(['echo', 'works'], capture_output=True, text=True).stdout"
    expect((await other.run(counted)).value).toBe("'works\\n'")
    expect((await (await startCells(provider)).run('1 + 1')).value).toBe('2')
    await bomber.kernel.dispose()
    await bombing
  })
})

/**
 * Code that writes to the channel past the kernel: its descriptor is a pipe or a socket, and not one of the first
 * three.
 */
const FORGE = `
import os, stat
def forge(data):
    written = set()
    for fd in range(3, 64):
        try: about = os.fstat(fd)
        except OSError: continue
        if about.st_ino in written: continue
        if stat.S_ISFIFO(about.st_mode) or stat.S_ISSOCK(about.st_mode):
            try: os.write(fd, data)
            except OSError: continue
            written.add(about.st_ino)
`

const FORGERIES: [what: string, frame: string][] = [
  ['a result of a cell that was never run', '{"type":"done","cell":99,"status":"ok","value":{"text/plain":"forged"}}'],
  ['a second beginning', '{"type":"ready","protocol":99,"python":"9","platform":"x"}'],
  ['an id that is a prototype', '{"type":"call","id":"__proto__","cell":1,"method":"call_tool","params":{}}'],
  [
    'keys that are prototypes',
    '{"type":"display","cell":1,"data":{"__proto__":{"polluted":1},"constructor":{"prototype":{}}}}',
  ],
  ['no frame at all', '}{ nonsense'],
  ['mistyped fields', '{"type":"output","cell":"1","stream":7,"text":{}}'],
]

/** One for each kind of channel. */
const CHANNELS = ['docker', 'docker-pipe', 'bubblewrap', 'bubblewrap-fork', 'kubernetes'] as const

describe.each<TestedProvider>(CHANNELS)('%s: forged frames', (engine) => {
  const shared = sharedIn(engine)
  for (const [what, frame] of FORGERIES) {
    it(`a forged frame harms nothing: ${what}`, async () => {
      const cells = await shared()
      const cell = cells.cellCount + 1
      const before = cells.kernel.channel.malformedCount
      // The control: a valid forged frame gets through, so this is the channel.
      const honest = '{"type":"output","cell":1,"stream":"stdout","text":"forged output"}'
      const frames = `${honest}\n${frame}\n`.replaceAll('"cell":1,', `"cell":${cell},`)
      const forged = await cells.run(`${FORGE}\nforge(${JSON.stringify(frames)}.encode())`)
      expect(forged.output).toContain('forged output')
      expect((await cells.run('6 * 7')).value).toBe('42')
      expect(cells.kernel.channel.malformedCount - before).toBeLessThanOrEqual(1)
      expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false)
    })
  }

  it('thousands of calls that no cell waits for are limited in number, and the bridge goes on', async () => {
    // The bridge limits them, whatever channel they come through.
    if (engine !== 'bubblewrap' && engine !== 'kubernetes') needsWholeRun()
    const cells = await startCells(await openProvider(engine))
    let openCount = 0
    const { status, output, error } = await cells.run(
      `
import asyncio
from mcp import runtime
calls = [asyncio.ensure_future(runtime.call_tool('host', 'look', {})) for _ in range(12_000)]
while sum(call.done() for call in calls) < 2000: await asyncio.sleep(0.05)
print({call.exception().code for call in calls if call.done()})
for call in calls: call.cancel()`,
      () => {
        openCount += 1
        return new Promise(() => {})
      },
    )
    expect([status, output, error?.traceback]).toEqual(['ok', "{'PROXY_TOO_MANY_CALLS'}\n", undefined])
    // The control: all the others did get through.
    expect(openCount).toBe(10_000)
    expect((await cells.run('6 * 7')).value).toBe('42')
  })

  it('descriptors that are sent along with frames are closed in the bridge', async () => {
    needsLinux('descriptors are read from /proc')
    if (engine.endsWith('-pipe')) skip('nothing is sent along through a pipe')
    const cells = await startCells(await openProvider(engine))
    const sends = `
import array, os, socket, stat
def sockets():
    for fd in range(3, 64):
        try:
            if stat.S_ISSOCK(os.fstat(fd).st_mode): yield socket.socket(fileno=os.dup(fd))
        except OSError: pass
ours = array.array('i', [os.open('/dev/null', os.O_RDONLY) for _ in range(20)])
sent = 0
for end in sockets():
    if end.type != socket.SOCK_STREAM: continue
    for _ in range(2):
        try: sent += end.sendmsg([b'\\n'], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, ours)])
        except OSError: break
print(sent)`
    const openFiles = () => readdirSync('/proc/self/fd').length
    const before = openFiles()
    // The control: messages with descriptors were sent.
    expect(Number((await cells.run(sends)).output)).toBeGreaterThan(0)
    expect((await cells.run('6 * 7')).value).toBe('42')
    expect(openFiles() - before).toBeLessThan(20)
  })

  it('a flood of invalid frames ends the sandbox, not the bridge', async () => {
    const cells = await startCells(await openProvider(engine))
    const { status, exit, ...rest } = await cells.run(
      `${FORGE}\nfor _ in range(1000): forge(b'nonsense\\n')\nimport time\ntime.sleep(60)`,
    )
    expect([status, exit?.reason], JSON.stringify(rest)).toEqual(['died', 'disposed'])
  })
})
