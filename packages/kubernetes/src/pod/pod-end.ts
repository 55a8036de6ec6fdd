// Explains from the cluster's data why a pod ended or did not start.
import type { Explained, SandboxExit } from '@sandbridge/core/isolation'
import { explainEnd } from '@sandbridge/native/native-kernel.ts'
import type { PodState } from './pod-state.ts'

/** The kubelet retries after these; the bridge reports them at once. */
const START_FAILURES = new Map([
  ['ErrImagePull', 'its image cannot be pulled'],
  ['ImagePullBackOff', 'its image cannot be pulled'],
  ['ErrImageNeverPull', 'its image is not on the node'],
  ['InvalidImageName', 'the name of its image is not valid'],
  ['CreateContainerConfigError', 'the node cannot make its container'],
  ['CreateContainerError', 'the node cannot make its container'],
  ['RunContainerError', 'the node cannot start its container'],
])

/** Exit code after SIGKILL. */
const KILLED = 137

/** The kubelet also reports this while a container's Secret does not exist yet. */
const WITHOUT_SECRET = 'CreateContainerConfigError'

/**
 * Returns why the pod will not start; undefined while it still may.
 * @param hasSecret its Secret is created after it
 */
export function startFailure({ waiting }: PodState, image: string, hasSecret = false): string | undefined {
  const what = waiting && START_FAILURES.get(waiting.reason)
  if (hasSecret && waiting?.reason === WITHOUT_SECRET) return undefined
  return what === undefined
    ? undefined
    : `The pod of image ${image} does not start: ${what}. ${waiting!.message}`.trim()
}

/** Describes what a pod waits for, for the timeout message. */
export function describeWait({ unschedulable, waiting, phase }: PodState): string {
  if (unschedulable !== '') return `no node has room: ${unschedulable}`
  if (waiting) return `${waiting.reason} ${waiting.message}`.trim()
  return phase === 'Pending' ? 'it has been scheduled and its container has not started' : `its phase is ${phase}`
}

export interface LastSeen {
  /** Undefined if the pod is gone, or the cluster cannot be asked. */
  pod: PodState | undefined
  stderr: string
  spoke: boolean
  image: string
  /** The program that the pod starts; default python3. */
  program?: string | undefined
}

/** Explains the end of a pod; undefined if the cluster does not report an end. */
export function explainPodEnd({
  pod,
  stderr,
  spoke,
  image,
  program = 'python3',
}: LastSeen): (Explained & Pick<SandboxExit, 'code'>) | undefined {
  if (!pod) return undefined
  const { terminated, reason, message } = pod
  const code = terminated?.code ?? null
  const detail = [message, terminated?.message, stderr].filter((text) => text !== undefined && text !== '').join('\n')
  if (reason === 'Evicted' || reason === 'Preempting') return { reason: 'evicted', detail, code }
  if (reason === 'DeadlineExceeded') return { reason: 'expired', detail, code }
  if (terminated?.reason === 'OOMKilled') return { reason: 'out-of-memory', detail, code }
  if (pod.isDeleting) return { reason: 'killed', detail, code }
  // Newer clusters first report the container's end, then, with a delay, why the pod was ended.
  if (terminated?.code === KILLED && pod.phase === 'Running') return undefined
  if (!terminated) return pod.phase === 'Failed' ? { reason: 'killed', detail, code } : undefined
  const explained = explainEnd({ code: terminated.code, signal: null, stderr: detail, spoke })
  if (spoke || explained.reason === 'out-of-memory' || explained.reason === 'failed-to-start')
    return { ...explained, code }
  const words = [127, 128, 126].includes(terminated.code) ? `has no working ${program}` : `did not start ${program}`
  return { reason: 'failed-to-start', detail: `Image ${image} ${words}. ${detail}`.trim(), code }
}
