// What clients of a resident bridge and hostile programs of the same user can try against it, and what becomes of it.
// Each group has a control in which the same attack, or its harmless twin, succeeds.
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { Bridge } from '../../src/bridge/bridge.ts'
import { readSettings } from '../../src/config/settings/settings.ts'
import { SILENT } from '../../src/util/log.ts'
import { bridgeEnv, fixtureServer, makeHome } from '../support/bridge-process.ts'

const OBSERVERS = { MCP_BRIDGE_AUDIT: 'off', MCP_BRIDGE_LIVE: '0', MCP_BRIDGE_POOL: '0' }

/**
 * Two clients in different folders, with variables of their own, that have the same entry.
 * @returns how many clients use the process that would serve the second one
 */
async function usersOf(entry: object, envs: [object, object], prepare = (_: string): void => {}): Promise<unknown> {
  const home = makeHome({ it: { ...fixtureServer('whoami.mjs'), cwd: '/', ...entry } })
  const folders = realpathSync(mkdtempSync(path.join(tmpdir(), 'sb-projects-')))
  const base = bridgeEnv(home, OBSERVERS)
  const bridge = await Bridge.open(readSettings({ ...base, MCP_BRIDGE_SOURCES: 'mcps' }, { home }), SILENT, {
    isResident: true,
  })
  onTestFinished(async () => {
    await bridge.close()
    for (const one of [home, folders]) rmSync(one, { recursive: true, force: true, maxRetries: 3 })
  })
  const clients = envs.map((env, index) => {
    const cwd = path.join(folders, String(index))
    mkdirSync(cwd)
    prepare(cwd)
    return bridge.connect({ env: { ...base, ...env }, cwd, home, ownPaths: [] }, SILENT)
  })
  await Promise.all(clients.map((client) => client.now()))
  return clients[1]!.sharing()[0]!.clients
}

const NOTHING: [object, object] = [{}, {}]
const jail = (filesystem: object): object => ({ sandbox: { filesystem } })

describe('a client cannot come to a process that works for another one', () => {
  it.each([
    ['control: the same entry', {}, NOTHING],
    ['control: absolute paths', { envFile: '/etc/hosts', ...jail({ allowWrite: ['/srv', '~/x'] }) }, NOTHING],
    ['control: a variable that it neither names nor inherits', {}, [{ OTHER: 'a' }, { OTHER: 'b' }]],
    ['control: another terminal', {}, [{ TERM: 'a' }, { TERM: 'b' }]],
    ['control: "shared": true', { cwd: undefined, shared: true }, NOTHING],
  ] as [string, object, [object, object]][])('%s', async (_, entry, envs) => {
    expect(await usersOf(entry, envs)).toBe(2)
  })

  const variables: [object, object] = [{ WORK: '/srv/a' }, { WORK: '/srv/b' }]
  it.each([
    ['the folder of the other, as an argument', { args: ['${workspaceFolder}'] }, NOTHING],
    ['by its other name', { args: ['${workspaceRoot}'] }, NOTHING],
    ['its name alone', { args: ['${workspaceFolderBasename}'] }, NOTHING],
    ['in the jail', jail({ allowWrite: ['${workspaceRoot}/data'] }), NOTHING],
    ['as a relative path in the jail', jail({ allowWrite: ['.'] }), NOTHING],
    ['as one to read, of a server that is marked as shared', { shared: true, ...jail({ allowRead: ['x'] }) }, NOTHING],
    ['a file of secrets beside it', { envFile: '.env' }, NOTHING],
    ['a file in it', { env: { TOKEN: '${file:token:-none}' } }, NOTHING],
    ['a variable', { env: { WORK: '${WORK}' } }, variables],
    ['a variable in the jail', jail({ allowWrite: ['/srv/${env:WORK}'] }), variables],
    ['a domain of the jail', { sandbox: { network: { allowedDomains: ['${WORK}'] } } }, variables],
    ['an inherited variable', { inheritEnv: ['WORK'] }, variables],
    ['its language', {}, [{ LANG: 'de_DE.UTF-8' }, { LANG: 'C' }]],
    ['its user', {}, [{ USER: 'ann' }, { USER: 'bob' }]],
    ['its proxy', {}, [{ HTTPS_PROXY: 'http://ann:secret@localhost:1' }, {}]],
    ['a blank variable instead of a missing one', { env: { A: '${A:-x}', B: '${A-x}' } }, [{ A: '' }, { A: ' ' }]],
  ] as [string, object, [object, object]][])('%s', async (_, entry, envs) => {
    expect(await usersOf(entry, envs)).toBe(1)
  })

  it('a file in its folder, of the same size and time', async () => {
    const prepare = (cwd: string): void => writeFileSync(path.join(cwd, 'token'), path.basename(cwd))
    expect(await usersOf({ env: { TOKEN: '${file:token}' } }, NOTHING, prepare)).toBe(1)
  })
})
