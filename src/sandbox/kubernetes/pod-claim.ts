// Whose a pod is that outlives its bridge, as its labels and annotations have it, and the patches that change that. A bridge has a pod when it was the
// first to raise the generation: the patch tests the one that the bridge has seen. Pure.
import { isRecord } from '../../text/json.ts'
import { type PodState, readPod } from './pod-state.ts'

/** Of pods that bridges come to and leave. */
const DURABLE_LABEL = 'sandbridge/durable'
/** The beginning of the owner: labels are shorter than hashes. */
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
  /** The bridge that raised it to that. */
  holder: string
  /** A hash; missing while no session has had it. */
  owner: string | undefined
  /** The client of that session. */
  client: string | undefined
  /** Nobody comes for it any more. NaN where nothing was said. */
  keptUntil: number
}

/** One step of a JSON patch. */
export interface PatchStep {
  op: 'test' | 'add' | 'replace'
  path: string
  value: string
}

/** Of a new pod. */
export function firstClaim(holder: string): { labels: Record<string, string>; annotations: Record<string, string> } {
  return { labels: { [DURABLE_LABEL]: 'true' }, annotations: { [GENERATION]: '1', [HOLDER]: holder } }
}

/** Of all pods that outlive bridges. */
export const DURABLE_SELECTOR = `${DURABLE_LABEL}=true`

export function ownerSelector(owner: string): string {
  return `${DURABLE_SELECTOR},${OWNER_LABEL}=${owner.slice(0, OWNER_CHARS)}`
}

/** Undefined for what is no pod that outlives bridges. */
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

/** Whether its first process runs, as far as the cluster knows. */
export function isAlive({ state }: ClaimedPod): boolean {
  return state.isRunning && !state.isDeleting && !state.terminated
}

/** Have it, unless another bridge was faster. */
export function claimPatch(from: number, holder: string, keptUntil: number): PatchStep[] {
  return [
    annotation('test', GENERATION, String(from)),
    annotation('replace', GENERATION, String(from + 1)),
    annotation('add', HOLDER, holder),
    ...renewal(keptUntil),
  ]
}

/** From now on it is this session's. */
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

/** It is wanted for longer. */
export function renewPatch(generation: number, keptUntil: number): PatchStep[] {
  return [annotation('test', GENERATION, String(generation)), ...renewal(keptUntil)]
}

function renewal(keptUntil: number): PatchStep[] {
  return [annotation('add', KEPT_UNTIL, new Date(keptUntil).toISOString())]
}

function annotation(op: PatchStep['op'], name: string, value: string): PatchStep {
  return { op, path: `/metadata/annotations/${escaped(name)}`, value }
}

/** As JSON pointers have it. */
function escaped(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1')
}
