// @module-tag whole: a bridge for each mode
// This file verifies how long variables live: in a shared session, in fresh ones, over a reset, and over an unexpected
// restart.
import { beforeAll, describe, expect, it } from 'vitest'
import { ANY_RUNTIME, type CellAnswer } from '../support/bridges/bridge-process.ts'
import { sharedBridge } from '../support/bridges/shared-bridge.ts'
import { startBridge } from '../support/bridges/start-bridge.ts'

const inOneSession = sharedBridge()

const CAUGHT = 'try: table\nexcept NameError as error: print(error)'

describe('runtime.session()', () => {
  const shared = sharedBridge({ env: { MCP_BRIDGE_MEMORY: '600m', MCP_BRIDGE_OUTPUT_TOKENS: '5000' } })

  it('runtime.session() returns age, cells and limits', async () => {
    const bridge = shared()
    const count = Number(await bridge.run('runtime.session().cellCount'))
    const text = await bridge.run('info = runtime.session()\nprint(info)\ninfo.ageSeconds >= 0', { timeout: 77 })
    expect(text).toMatch(/^mode: shared$/m)
    expect(text).toMatch(new RegExp(`^cellCount: ${count + 1}$`, 'm'))
    expect(text).toMatch(new RegExp(`^provider: ${ANY_RUNTIME}$`, 'm'))
    expect(text).toMatch(ANY_RUNTIME === 'pyodide' ? /^sandbox: embedded \(pyodide\)$/m : /^sandbox: bubblewrap$/m)
    expect(text).toMatch(/^python: 3\.\d+\.\d+$/m)
    expect(text).toMatch(/^timeoutSeconds: 77$/m)
    expect(text).toMatch(/^memoryBytes: 629145600$/m)
    expect(text).toMatch(/^outputTokenCount: 5000$/m)
    expect(text).toMatch(/^True$/m)
  })

  it('runtime.session() returns the memory that is used, which grows with it', async () => {
    const used = 'runtime.session().memoryUsedBytes'
    const code = `before = ${used}\nkept = bytearray(100 << 20)\nbefore > 10 << 20, ${used} - before > 50 << 20, ${used} < 600 << 20`
    expect(await shared().run(code)).toBe('(True, True, True)')
  })
})

it('runtime.reset() gives the next cell a sandbox without variables, modules or files, and the result says so', async () => {
  const bridge = inOneSession()
  await bridge.run('x = 1; import json; json.mine = 1; open("f", "w").write("x")')
  const text = await bridge.run('runtime.reset()\nprint("still", x)')
  expect(text).toMatch(/^still 1\n\[sandbridge: The session was reset: .*no variables/)
  const check = 'import json, os\n"x" in globals(), hasattr(json, "mine"), os.listdir(), runtime.session().cellCount'
  expect(await bridge.run(check)).toBe('(False, False, [], 1)')
})

describe('MCP_BRIDGE_SESSION=fresh', () => {
  const bridge = sharedBridge({ env: { MCP_BRIDGE_SESSION: 'fresh' } })

  beforeAll(() => bridge().run('x = 1; table = [1]; open("f", "w").write("x")'))

  it('MCP_BRIDGE_SESSION=fresh gives each cell its own sandbox, also after a timeout and at the same time', async () => {
    const { text } = await bridge().call({ code: 'while True: pass', timeout: 0.5 })
    expect(text).toMatch(/Timed out after 0\.5 s/)
    const check = (number: number) => `
import os
n = globals().get("n", 0) + ${number}
n, "x" in globals(), os.listdir(), runtime.session().mode`
    expect(await Promise.all([1, 2].map((number) => bridge().run(check(number))))).toEqual([
      "(1, False, [], 'fresh')",
      "(2, False, [], 'fresh')",
    ])
  })

  it('a NameError says that variables are gone where each cell has a sandbox of its own', async () => {
    expect(await bridge().run(CAUGHT)).toMatch(/name 'table' is not defined.*each cell has its own sandbox/)
  })
})

/**
 * Ignores every interrupt, so its sandbox must be ended: two seconds later, which it sleeps through. Where interrupts
 * are signals, it blocks them, because the second one may arrive while the first is handled.
 */
const STUBBORN = `
import signal, sys, time
if sys.platform != "emscripten": signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
while True:
    try: time.sleep(60)
    except KeyboardInterrupt: pass`

/** What a cell without a checkpoint says. */
const GONE = /All variables are gone/

it.each([
  ['a reset', 'runtime.reset()', {}, /no variables/, /the session was reset, and variables of earlier cells are gone/],
  ['a cell that had to be ended', STUBBORN, { timeout: 0.5 }, GONE, /the sandbox of earlier cells was lost/],
  ['a process that ended itself', 'import os; os._exit(3)', {}, GONE, /the sandbox of earlier cells was lost/],
])(
  'a NameError says that variables are gone after %s, caught or not, and in a function',
  async (_what, lose, args, said, why) => {
    const bridge = inOneSession()
    await bridge.run('table = [1]')
    expect(await bridge.run(lose, args)).toMatch(said)
    expect(await bridge.run('def count():\n    return len(table)\ncount()')).toMatch(
      new RegExp(`NameError: name 'table' is not defined.*${why.source}`, 's'),
    )
    expect(await bridge.run(CAUGHT)).toMatch(why)
    expect(await bridge.run('table = [1, 2]\nlen(table)')).toBe('2')
  },
)

it('a NameError says that variables are gone after the session was idle for too long', async () => {
  const bridge = await startBridge({ env: { MCP_BRIDGE_RUNTIME_IDLE_TIMEOUT: '0.2' } })
  await bridge.run('table = [1]')
  // Each look is a cell, after which the session is idle for longer than it may be.
  await expect
    .poll(() => bridge.run(CAUGHT), { interval: 500 })
    .toMatch(/name 'table' is not defined.*the session was idle for too long and ended/)
})

describe('MCP_BRIDGE_SESSION=checkpoint', () => {
  const checkpointed = sharedBridge({ env: { MCP_BRIDGE_SESSION: 'checkpoint' } })

  describe('after a forced restart', () => {
    const bridge = sharedBridge({ env: { MCP_BRIDGE_SESSION: 'checkpoint', MCP_BRIDGE_RUNTIME: 'pyodide' } })
    /** What the cell that lost its sandbox says, and the first and the second cell after it. */
    let killed: string
    let next: CellAnswer
    let second: string
    const RESTORED = 'shared, alias, table, small, math, c, urllib, pathlib, sys, os'.split(', ')
    beforeAll(async () => {
      await bridge().run(`
import math, collections as c
shared = [1, 2]
alias = shared
table = {"rows": c.Counter("aab"), "again": shared}
def area(r): return math.pi * r * r
class Point: pass
point = Point()
source = (n for n in range(3))
handle = open("/workspace/f", "w")`)
      await bridge().run(`
import urllib.error, pathlib
herr = urllib.error.HTTPError("u", 404, "nf", {}, None)
pathlib.Path("/workspace/helper.py").write_text("class Helper: pass")
import sys; sys.path.insert(0, "/workspace")
import helper
mine = helper.Helper()`)
      await bridge().run('import os\nsmall = 1\nlarge = os.urandom(20 << 20)')
      killed = await bridge().run(STUBBORN, { timeout: 0.5 })
      next = await bridge().call({
        code: 'alias.append(3)\nshared, table["again"] is shared, table["rows"]["a"], math.sqrt(4), c.Counter("x")["x"], [n in globals() for n in ("area", "point", "source", "handle")]',
      })
      second = await bridge().run('shared, [n for n in ("large", "mine", "herr") if n in globals()]')
    })

    it('a checkpoint carries what can be pickled over a forced restart, and names what was lost', () => {
      expect(killed).toMatch(/the bridge stopped its sandbox/)
      expect(killed).not.toMatch(/All variables are gone/)
      expect(killed).toMatch(
        /The next cell restores these as they were before this cell: .*shared.*Lost: .*area \(function of a cell\)/,
      )
      expect(killed).toMatch(/point \(Point: Point is defined in a cell\)/)
      expect(next.structured).toMatchObject({
        status: 'ok',
        value: '([1, 2, 3], True, 2, 2.0, 1, [False, False, False, False])',
      })
      expect(next.structured['notes']).toEqual([expect.stringMatching(/^kernel: Restored from before the restart: /)])
      // Reported once.
      expect(second).toBe('([1, 2, 3], [])')
    })

    it('a checkpoint promises nothing that cannot be loaded again, and loses nothing else because of it', () => {
      const [, restored] = /as they were before this cell: ([^.]*)\. Lost: /.exec(killed) ?? []
      expect(restored?.split(', ')).toEqual(RESTORED)
      expect(killed).toMatch(/herr \(HTTPError: it cannot be loaded again: HTTPError.__init__\(\) missing/)
      expect(killed).toMatch(/mine \(Helper: Helper is defined in a file in \/workspace\/\)/)
      expect(killed).toMatch(/helper \(a module in \/workspace\/\)/)
    })

    it('a checkpoint has limits: a value that is too large is lost and reported, the rest is kept', () => {
      expect(killed).toMatch(/Lost: .*large \(bytes: more than 16 MiB\)/)
      expect(RESTORED).toContain('small')
    })
  })

  it('a checkpoint is forgotten by a reset', async () => {
    const bridge = checkpointed()
    await bridge.run('x = 1')
    await bridge.run('runtime.reset()')
    expect(await bridge.run('"x" in globals()')).toBe('False')
  })

  it('a checkpoint is off unless asked for: then a cell can hand over nothing', async () => {
    const bridge = inOneSession()
    const raw =
      'from sandbridge_kernel.api import bridge as _b\n_b.ask_sync("save_checkpoint", data="", kept=[], lost=[])'
    expect(await bridge.run(raw)).toMatch(/MCP_BRIDGE_SESSION is not checkpoint/)
  })

  it('a hostile checkpoint is refused, and so is data beyond its limits', async () => {
    const bridge = checkpointed()
    const send = (data: string) =>
      `from sandbridge_kernel.api import bridge as _b\n_b.ask_sync("save_checkpoint", data=${data}, kept=["x"], lost=[])\nimport os; os.abort()`
    expect(await bridge.run(send('"A" * 24_000_000'))).toMatch(/data: Too big/)
    await bridge.run(send('"AAAA"'))
    expect(await bridge.run('1')).toMatch(/^1\n\[kernel: The variables of the session before could not be restored/)
    // A pickle that crashes every sandbox that loads it is dropped eventually.
    await bridge.run(send('__import__("base64").b64encode(b"cos\\nabort\\n(tR.").decode()'))
    const answers: string[] = []
    while (answers.at(-1) !== "'alive'" && answers.length < 4) answers.push(await bridge.run('"alive"'))
    expect(answers.at(-1)).toBe("'alive'")
  })
})
