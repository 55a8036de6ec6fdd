// Nothing of one client of a resident bridge reaches another: not its environment, its folder, its rules, its project's
// servers, or what it can be asked. Each attack is first made where it succeeds, on a bridge whose clients share the
// context of whoever started it.
import { mkdirSync, realpathSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { Bridge } from '../../core/src/bridge/bridge.ts'
import type { ServerSet } from '../../core/src/bridge/tenants/server-set.ts'
import type { ClientContext } from '../../core/src/config/settings/client-context.ts'
import { readSettings } from '../../core/src/config/settings/settings.ts'
import { SILENT } from '../../core/src/util/log.ts'
import {
  bridgeEnv,
  fixtureServer,
  makeHome,
  type ServerEntry,
} from '@sandbridge/core/test/support/bridges/bridge-process.ts'
import { textOf } from '@sandbridge/core/test/upstream/definitions.ts'
import { newFolder } from '@sandbridge/core/test/support/machine/new-folder.ts'

const WHO = { ...fixtureServer('whoami.mjs'), env: { WHO: '${WHO:-nobody}' } }
const OBSERVERS = { MCP_BRIDGE_AUDIT: 'off', MCP_BRIDGE_POOL: '0' }

interface Seen {
  pid: number
  cwd: string
  who: string | null
  home: string
}

interface House {
  /** A context with its own project folder. */
  context: (name: string, env?: Record<string, string>) => ClientContext
  open: (options: { isResident?: boolean; context?: ClientContext }) => Promise<Bridge>
}

function house(servers: Parameters<typeof makeHome>[0]): House {
  const home = makeHome(servers)
  const folders = realpathSync(newFolder())
  const base = bridgeEnv(home, OBSERVERS)
  return {
    context: (name, env = {}) => {
      const cwd = path.join(folders, name)
      mkdirSync(path.join(cwd, '.sandbridge'), { recursive: true })
      return { env: { ...base, ...env }, cwd, home, ownPaths: [] }
    },
    open: async (options) => {
      const bridge = await Bridge.open(
        readSettings({ ...base, MCP_BRIDGE_SOURCES: 'mcps,vscode' }, { home }),
        SILENT,
        options,
      )
      onTestFinished(() => bridge.close())
      return bridge
    },
  }
}

async function ask({ connected }: ServerSet, server = 'who'): Promise<Seen> {
  return JSON.parse(textOf(await connected.upstreams.callTool(server, 'who', {}))) as Seen
}

const access = async ({ connected, rules }: ServerSet): Promise<string> => {
  await connected.upstreams.listTools('who')
  const tool = connected.catalog.of('who').tools?.find(({ name }) => name === 'who')
  return tool === undefined ? 'unknown' : rules.accessOf(tool)
}

function deny({ cwd }: ClientContext): void {
  writeFileSync(path.join(cwd, '.sandbridge/permissions.json'), JSON.stringify({ permissions: { deny: ['who__*'] } }))
}

describe('control: clients of a bridge with one context', () => {
  it('get the environment and the folder of whoever started it, and its rules', async () => {
    const { context, open } = house({ who: WHO })
    const [ann, bob] = [context('ann', { WHO: 'ann' }), context('bob', { WHO: 'bob' })]
    deny(bob)
    const bridge = await open({ context: ann })
    const seen = await ask(await bridge.tenants.of().now())
    expect({ who: seen.who, cwd: seen.cwd }).toEqual({ who: 'ann', cwd: ann.cwd })
    // Bob's project forbids this.
    expect(await access(await bridge.tenants.of().now())).toBe('allowed')
  })
})

describe('clients of a resident bridge', () => {
  it('each have the environment and the folder that they brought', async () => {
    const { context, open } = house({ who: WHO })
    const bridge = await open({ isResident: true })
    const [ann, bob] = [context('ann', { WHO: 'ann' }), context('bob', { WHO: 'bob' })]
    const sets = await Promise.all([ann, bob].map((one) => bridge.connect(one, SILENT).now()))
    const seen = await Promise.all(sets.map((set) => ask(set)))
    expect(seen.map(({ who, cwd }) => [who, cwd])).toEqual([
      ['ann', ann.cwd],
      ['bob', bob.cwd],
    ])
    expect(seen[0]!.pid).not.toBe(seen[1]!.pid)
  })

  it('each have their own folder below which a relative `cwd` is', async () => {
    const { context, open } = house({ who: { ...fixtureServer('whoami.mjs'), cwd: '.sandbridge' } })
    const bridge = await open({ isResident: true })
    const contexts = [context('ann'), context('bob')]
    const seen = await Promise.all(
      contexts.map(async (one) => (await ask(await bridge.connect(one, SILENT).now())).cwd),
    )
    expect(seen).toEqual(contexts.map(({ cwd }) => path.join(cwd, '.sandbridge')))
  })

  it('each have the rules of their own project', async () => {
    const { context, open } = house({ who: WHO })
    const bridge = await open({ isResident: true })
    const [ann, bob] = [context('ann'), context('bob')]
    deny(bob)
    const sets = await Promise.all([ann, bob].map((one) => bridge.connect(one, SILENT).now()))
    expect(await Promise.all(sets.map(access))).toEqual(['allowed', 'denied'])
  })

  it('run no code while the rules of their project are invalid, and others do', async () => {
    const { context, open } = house({ who: WHO })
    const bridge = await open({ isResident: true })
    const [ann, bob] = [context('ann'), context('bob')]
    writeFileSync(path.join(bob.cwd, '.sandbridge/permissions.json'), '{"permissions": {"deny": 1}}')
    const broken = bridge.connect(bob, SILENT)
    await expect(broken.now()).rejects.toMatchObject({ code: 'CONFIG_INVALID' })
    expect((await ask(await bridge.connect(ann, SILENT).now())).cwd).toBe(ann.cwd)
    deny(bob)
    expect(await access(await broken.now())).toBe('denied')
  })

  it('run no code without a context', async () => {
    const { open } = house({ who: WHO })
    const bridge = await open({ isResident: true })
    expect(() => bridge.tenants.of()).toThrow(expect.objectContaining({ code: 'PROXY_SERVER_UNAVAILABLE' }))
  })

  it('share the process of a server that nothing tells apart, and no other', async () => {
    const shared = { ...fixtureServer('whoami.mjs'), cwd: '/' }
    const { context, open } = house({ shared, own: { ...shared, shared: false } as ServerEntry, who: WHO })
    const bridge = await open({ isResident: true })
    const contexts = [context('ann'), context('bob'), context('ann')]
    const sets = await Promise.all(contexts.map((one) => bridge.connect(one, SILENT).now()))
    const pids = async (server: string) =>
      (await Promise.all(sets.map((set) => ask(set, server)))).map(({ pid }) => pid)
    expect(new Set(await pids('shared')).size).toBe(1)
    // Asked to be kept apart.
    expect(new Set(await pids('own')).size).toBe(3)
    // Starts in the client's folder: two of the three have the same one.
    const [ann, bob, again] = await pids('who')
    expect(ann).toBe(again)
    expect(ann).not.toBe(bob)
  })

  it('share a server across folders that is marked so, in the home folder', async () => {
    const { context, open } = house({ who: { ...fixtureServer('whoami.mjs'), shared: true } as ServerEntry })
    const bridge = await open({ isResident: true })
    const [ann, bob] = [context('ann'), context('bob')]
    const seen = await Promise.all([ann, bob].map(async (one) => ask(await bridge.connect(one, SILENT).now())))
    expect(seen[0]!.pid).toBe(seen[1]!.pid)
    expect(seen[0]!.cwd).toBe(ann.home)
  })

  it('see the tools that a server lists for what they themselves can be asked', async () => {
    const { context, open } = house({ who: { ...fixtureServer('whoami.mjs'), cwd: '/' } })
    const bridge = await open({ isResident: true })
    const ann = context('ann')
    const [able, unable] = [bridge.connect(ann, SILENT), bridge.connect(ann, SILENT)]
    able.clientOffers(['elicitation/create'])
    const listed = await Promise.all(
      [able, unable].map(async (one) => (await (await one.now()).connected.upstreams.listTools('who')).length),
    )
    expect(listed).toEqual([2, 1])
  })
})

describe('a shared process', () => {
  it('outlives the client that started it, and serves the next one', async () => {
    const { context, open } = house({ who: { ...fixtureServer('whoami.mjs'), cwd: '/' } })
    const bridge = await open({ isResident: true })
    const ann = bridge.connect(context('ann'), SILENT)
    const first = await ask(await ann.now())
    await ann.close()
    expect((await ask(await bridge.connect(context('bob'), SILENT).now())).pid).toBe(first.pid)
  })

  it('stays for one client when the definition of another has changed', async () => {
    const { context, open } = house({ who: { ...fixtureServer('whoami.mjs'), cwd: '/' } })
    const bridge = await open({ isResident: true })
    const [ann, bob] = await Promise.all(
      [context('ann'), context('bob')].map((one) => bridge.connect(one, SILENT).now()),
    )
    const before = await ask(ann!)
    const [definition] = bob!.connected.upstreams.definitions
    bob!.connected.upstreams.redefine([{ ...definition!, callTimeoutMs: 5000 }])
    expect((await ask(bob!)).pid).not.toBe(before.pid)
    expect((await ask(ann!)).pid).toBe(before.pid)
  })
})
