// The owner of a pod that outlives its bridge, in labels and annotations, and the patches that change it. A bridge gets
// a pod by raising its generation first: the patch tests the generation that the bridge has seen. Pure.
import { isRecord } from '@sandbridge/core/util/json/json.ts'
import { type PodState, readPod } from '../pod/pod-state.ts'

/** Marks pods that outlive bridges. */
const DURABLE_LABEL = 'sandbridge/durable'
/** The start of the owner's hash: labels cannot hold all of it. */
const OWNER_LABEL = 'sandbridge/owner'
const OWNER_CHARS = 32
const OWNER = 'sandbridge/owner'
const GENERATION = 'sandbridge/generation'
const HOLDER = 'sandbridge/holder'
const KEPT_UNTIL = 'sandbridge/kept-until'
const CLIENT = 'sandbridge/client'

export interface ClaimedPod {
  state: PodState
  generation: number
  /** The bridge that raised the generation to this value. */
  holder: string
  /** A hash; missing until a session has had the pod. */
  owner: string | undefined
  /** The client of that session. */
  client: string | undefined
  /** No bridge will resume the pod after this time. NaN if it is unset. */
  keptUntil: number
}

/** One step of a JSON patch. */
export interface PatchStep {
  op: 'test' | 'add' | 'replace'
  path: string
  value: string
}

/** Labels and annotations of a new pod. */
export function firstClaim(holder: string): { labels: Record<string, string>; annotations: Record<string, string> } {
  return { labels: { [DURABLE_LABEL]: 'true' }, annotations: { [GENERATION]: '1', [HOLDER]: holder } }
}

/** Selects all pods that outlive bridges. */
export const DURABLE_SELECTOR = `${DURABLE_LABEL}=true`

export function ownerSelector(owner: string): string {
  return `${DURABLE_SELECTOR},${OWNER_LABEL}=${owner.slice(0, OWNER_CHARS)}`
}

/** Returns undefined unless the object is a pod that outlives bridges. */
export function readClaim(item: unknown): ClaimedPod | undefined {
  const state = readPod(item)
  const { labels, annotations } = isRecord(item) && isRecord(item['metadata']) ? item['metadata'] : {}
  if (!state || !isRecord(labels) || labels[DURABLE_LABEL] !== 'true' || !isRecord(annotations)) return undefined
  const text = (name: string): string | undefined => {
    const value = annotations[name]
    return typeof value === 'string' ? value : undefined
  }
  const generation = text(GENERATION) ?? ''
  if (!/^[1-9]\d{0,14}$/.test(generation)) return undefined
  return {
    state,
    generation: Number(generation),
    holder: text(HOLDER) ?? '',
    owner: text(OWNER),
    client: text(CLIENT),
    keptUntil: Date.parse(text(KEPT_UNTIL) ?? ''),
  }
}

/** True if its first process runs, as far as the cluster knows. */
export function isAlive({ state }: ClaimedPod): boolean {
  return state.isRunning && !state.isDeleting && !state.terminated
}

/** Take the pod, unless another bridge was faster. */
export function claimPatch(from: number, holder: string, keptUntil: number): PatchStep[] {
  return [
    annotation('test', GENERATION, String(from)),
    annotation('replace', GENERATION, String(from + 1)),
    annotation('add', HOLDER, holder),
    ...renewal(keptUntil),
  ]
}

/** Assign the pod to a session. */
export function keepPatch(
  generation: number,
  { owner, client }: { owner: string; client?: string | undefined },
  keptUntil: number,
): PatchStep[] {
  return [
    annotation('test', GENERATION, String(generation)),
    { op: 'add', path: `/metadata/labels/${escaped(OWNER_LABEL)}`, value: owner.slice(0, OWNER_CHARS) },
    annotation('add', OWNER, owner),
    ...(client === undefined ? [] : [annotation('add', CLIENT, client)]),
    ...renewal(keptUntil),
  ]
}

/** Extend the time that the pod is kept. */
export function renewPatch(generation: number, keptUntil: number): PatchStep[] {
  return [annotation('test', GENERATION, String(generation)), ...renewal(keptUntil)]
}

function renewal(keptUntil: number): PatchStep[] {
  return [annotation('add', KEPT_UNTIL, new Date(keptUntil).toISOString())]
}

function annotation(op: PatchStep['op'], name: string, value: string): PatchStep {
  return { op, path: `/metadata/annotations/${escaped(name)}`, value }
}

/** Escapes a name for a JSON pointer. */
function escaped(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1')
}
