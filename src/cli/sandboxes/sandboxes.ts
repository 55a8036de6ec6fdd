// `sandbridge sandboxes`: lists and removes sandboxes that outlive their bridge, for the owner of the machine or
// namespace. Starts none.
import path from 'node:path'
import { loadSettings } from '../../config/settings/file/load-settings.ts'
import { BridgeError } from '../../errors.ts'
import { isRunning, removeKept } from '../../isolation/container/durable-containers.ts'
import { type KeptRecord, KeptSandboxes } from '../../isolation/durable/kept-sandboxes.ts'
import type { Cluster } from '../../isolation/kubernetes/cluster.ts'
import type { KeptPod } from '../../isolation/kubernetes/kept/kept-pod-list.ts'
import type { ProviderName } from '../../isolation/provider.ts'
import { count } from '../../util/text/count.ts'
import { print, printEmpty, printJson, printSummary, printTable, visibleInline } from '../terminal/print.ts'

const NONE =
  'No sandboxes are kept. With MCP_BRIDGE_SESSION=durable, the sandbox of a conversation outlives its bridge.'

/** Timeout for a cluster that does not answer. */
const PATIENCE_MS = 3_000

/** A description of one sandbox, without anything that gives access to it. */
interface Described extends Pick<KeptRecord, 'id' | 'client' | 'folder' | 'createdAt'> {
  provider: ProviderName
  /**
   * `in use` by a bridge, `waiting` for one, `ended`: the next bridge removes it; for a pod also `no answer`: its node
   * may be down.
   */
  state: KeptPod['state']
  /** The process id of its bridge, or the bridge's identity in the cluster. */
  bridge?: number | string
  /** Unknown for pods. */
  usedAt?: string
}

export async function listSandboxes({ json }: { json?: boolean }): Promise<void> {
  const kept = await openKept()
  const local = await Promise.all((await kept.list()).map((record) => describe(kept, record)))
  const all = [...local, ...(await describePods())]
  if (json) return printJson(all)
  if (all.length === 0) return printEmpty(NONE)
  printTable(
    all.map(({ id, provider, state, bridge, client, folder, createdAt, usedAt }) => [
      id,
      provider,
      bridge === undefined
        ? state
        : `${state} (${typeof bridge === 'number' ? `process ${bridge}` : visibleInline(bridge)})`,
      visibleInline(client ?? '-'),
      visibleInline(folder ?? '-'),
      minute(createdAt),
      usedAt === undefined ? '-' : minute(usedAt),
    ]),
    { head: ['ID', 'PROVIDER', 'STATE', 'CLIENT', 'FOLDER', 'CREATED', 'LAST USED'] },
  )
  printSummary(`${count(all.length, 'sandbox', 'sandboxes')}. End one: sandbridge sandboxes remove ${all[0]!.id}`)
}

/** @throws BridgeError STATE_NOT_FOUND, STATE_REFUSED while a bridge has it */
export async function removeSandbox(id: string): Promise<void> {
  const kept = await openKept()
  const record = (await kept.list()).find((one) => one.id === id)
  if (!record && (await removePod(id))) return print(`Ended '${id}'. Its variables are gone.`)
  if (!record) {
    throw new BridgeError('STATE_NOT_FOUND', `No sandbox '${visibleInline(id)}' is kept`, {
      hint: 'See `sandbridge sandboxes`.',
    })
  }
  if (!(await removeKept(kept, record))) {
    throw inUse(id, `process ${await kept.holder(id)}`)
  }
  print(`Ended '${id}'. Its variables are gone.`)
}

/** The namespace of the pods, if the settings select pods as sandboxes. */
async function openPods(): Promise<Cluster | undefined> {
  const { runtime, kubernetesContext: context, kubernetesNamespace: namespace } = await loadSettings()
  if (runtime !== 'kubernetes') return undefined
  const { openCluster } = await import('../../isolation/kubernetes/open-cluster.ts')
  return (await openCluster({ context, namespace }, PATIENCE_MS)).cluster
}

async function describePods(): Promise<Described[]> {
  const cluster = await openPods()
  if (!cluster) return []
  const { listKeptPods } = await import('../../isolation/kubernetes/kept/kept-pod-list.ts')
  return (await listKeptPods(cluster)).map(({ name, state, holder, client, createdAt }) => ({
    id: name,
    provider: 'kubernetes',
    createdAt: new Date(createdAt).toISOString(),
    ...(client !== undefined && { client }),
    state,
    ...(state === 'in use' && { bridge: holder }),
  }))
}

/** @returns false when there is no such pod @throws BridgeError STATE_REFUSED */
async function removePod(name: string): Promise<boolean> {
  const cluster = await openPods()
  if (!cluster) return false
  const { removeKeptPod } = await import('../../isolation/kubernetes/kept/kept-pod-list.ts')
  const answer = await removeKeptPod(cluster, name)
  if (typeof answer === 'object') throw inUse(name, visibleInline(answer.holder))
  return answer === 'removed'
}

function inUse(id: string, bridge: string): BridgeError {
  return new BridgeError('STATE_REFUSED', `A bridge (${bridge}) is using the sandbox '${id}'`, {
    hint: 'End that bridge first.',
  })
}

function minute(time: string): string {
  return time.slice(0, 16).replace('T', ' ')
}

async function openKept(): Promise<KeptSandboxes> {
  return new KeptSandboxes(path.resolve((await loadSettings()).stateDir))
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
