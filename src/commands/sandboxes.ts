// `sandbridge sandboxes`: those that outlive their bridge, for the person whose machine they are on. Starts none.
import path from 'node:path'
import { readSettings } from '../config/settings.ts'
import { BridgeError } from '../errors.ts'
import { isRunning, removeKept } from '../sandbox/container/durable-containers.ts'
import { type KeptRecord, KeptSandboxes } from '../sandbox/durable/kept-sandboxes.ts'
import { count } from '../text/count.ts'
import { print, printEmpty, printJson, printSummary, printTable, visibleInline } from './print.ts'

const NONE =
  'No sandboxes are kept. With MCP_BRIDGE_SESSION=durable, the sandbox of a conversation outlives its bridge.'

/** What can be told of one: nothing that leads into it. */
interface Described extends Pick<KeptRecord, 'id' | 'provider' | 'client' | 'folder' | 'createdAt' | 'usedAt'> {
  /** `in use` by a bridge, `waiting` for one, or `ended`: the next bridge drops it. */
  state: 'in use' | 'waiting' | 'ended'
  /** The process of the bridge that has it. */
  bridge?: number
}

export async function listSandboxes({ json }: { json?: boolean }): Promise<void> {
  const kept = openKept()
  const all = await Promise.all((await kept.list()).map((record) => describe(kept, record)))
  if (json) return printJson(all)
  if (all.length === 0) return printEmpty(NONE)
  printTable(
    all.map(({ id, provider, state, bridge, client, folder, usedAt }) => [
      id,
      provider,
      bridge === undefined ? state : `${state} (process ${bridge})`,
      visibleInline(client ?? '-'),
      visibleInline(folder ?? '-'),
      usedAt.slice(0, 16).replace('T', ' '),
    ]),
    { head: ['ID', 'PROVIDER', 'STATE', 'CLIENT', 'FOLDER', 'LAST USED'] },
  )
  printSummary(`${count(all.length, 'sandbox', 'sandboxes')}. End one: sandbridge sandboxes remove ${all[0]!.id}`)
}

/** @throws BridgeError STATE_NOT_FOUND, STATE_REFUSED while a bridge has it */
export async function removeSandbox(id: string): Promise<void> {
  const kept = openKept()
  const record = (await kept.list()).find((one) => one.id === id)
  if (!record) {
    throw new BridgeError('STATE_NOT_FOUND', `No sandbox '${visibleInline(id)}' is kept`, {
      hint: 'See `sandbridge sandboxes`.',
    })
  }
  if (!(await removeKept(kept, record))) {
    const holder = await kept.holder(id)
    throw new BridgeError('STATE_REFUSED', `A bridge (process ${holder}) is using the sandbox '${id}'`, {
      hint: 'End that bridge first.',
    })
  }
  print(`Ended '${id}'. Its variables are gone.`)
}

function openKept(): KeptSandboxes {
  return new KeptSandboxes(path.resolve(readSettings(process.env).stateDir))
}

async function describe(kept: KeptSandboxes, record: KeptRecord): Promise<Described> {
  const { id, provider, client, folder, createdAt, usedAt } = record
  const bridge = await kept.holder(id)
  const known = {
    id,
    provider,
    createdAt,
    usedAt,
    ...(client !== undefined && { client }),
    ...(folder !== undefined && { folder }),
  }
  if (bridge !== undefined) return { ...known, state: 'in use', bridge }
  const runs = (provider === 'docker' || provider === 'podman') && (await isRunning(provider, id))
  return { ...known, state: runs ? 'waiting' : 'ended' }
}
