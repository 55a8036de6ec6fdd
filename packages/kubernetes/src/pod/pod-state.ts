// The parts of a pod's object that the bridge reads: its phase and why it ended. Pure.
import { fieldsOf, isRecord, itemsOf } from '@sandbridge/core/util/json/json.ts'
import { oneLine } from '@sandbridge/core/util/text'

export interface PodState {
  name: string
  /** Distinguishes it from an earlier pod of the same name. */
  uid: string
  phase: string
  /** Reason for the whole pod, such as `Evicted`. */
  reason: string
  message: string
  /** Its deletion was requested. */
  isDeleting: boolean
  /** Why no node accepts it; empty if one has, or the scheduler has not tried yet. */
  unschedulable: string
  isRunning: boolean
  /** Why its container has not started yet, such as `ErrImagePull`. */
  waiting: { reason: string; message: string } | undefined
  terminated: { code: number; reason: string; message: string } | undefined
  /** Milliseconds since 1970; NaN if unknown. */
  createdAt: number
  finishedAt: number
}

const MAX_WORDS_CHARS = 400

/** Returns undefined unless the object is a pod. */
export function readPod(value: unknown): PodState | undefined {
  const pod = fieldsOf(value)
  const { name, uid, deletionTimestamp, creationTimestamp } = fieldsOf(pod['metadata'])
  if (typeof name !== 'string') return undefined
  const status = fieldsOf(pod['status'])
  const container = fieldsOf(itemsOf(status['containerStatuses'])[0])
  const state = fieldsOf(container['state'])
  const terminated = isRecord(state['terminated']) ? state['terminated'] : undefined
  const waiting = isRecord(state['waiting']) ? state['waiting'] : undefined
  const scheduled = itemsOf(status['conditions'])
    .map(fieldsOf)
    .find(({ type }) => type === 'PodScheduled')
  return {
    name,
    uid: typeof uid === 'string' ? uid : '',
    phase: words(status['phase']),
    reason: words(status['reason']),
    message: words(status['message']),
    isDeleting: typeof deletionTimestamp === 'string',
    unschedulable:
      scheduled?.['status'] === 'False' && scheduled['reason'] === 'Unschedulable' ? words(scheduled['message']) : '',
    isRunning: isRecord(state['running']),
    waiting: waiting && { reason: words(waiting['reason']), message: words(waiting['message']) },
    terminated: terminated && {
      code: typeof terminated['exitCode'] === 'number' ? terminated['exitCode'] : -1,
      reason: words(terminated['reason']),
      message: words(terminated['message']),
    },
    createdAt: Date.parse(String(creationTimestamp)),
    finishedAt: Date.parse(String(terminated?.['finishedAt'])),
  }
}

function words(value: unknown): string {
  return oneLine(value, MAX_WORDS_CHARS)
}
