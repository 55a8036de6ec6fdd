// Waits until a pod runs, cannot run, or takes too long.
import type { SandboxExit } from '@sandbridge/core/isolation'
import type { FollowedPod } from './followed-pod.ts'
import { describeWait, explainPodEnd, startFailure } from './pod-end.ts'

/** Poll interval: a watch may be late or lost. */
const ASK_MS = 3_000

/** Why the pod does not run. */
export class NotStarted extends Error {
  override readonly name = 'NotStarted'
  readonly reason: SandboxExit['reason']

  constructor(reason: SandboxExit['reason'], message: string) {
    super(message)
    this.reason = reason
  }
}

interface StartOptions {
  image: string
  program?: string | undefined
  hasSecret?: boolean | undefined
  timeoutMs: number
  /** True if the sandbox is no longer needed. */
  isUnwanted: () => boolean
  /** A factor of the interval between polls. */
  pace?: number
}

/** @throws NotStarted */
export async function untilRunning(
  pod: FollowedPod,
  { image, program, hasSecret, timeoutMs, isUnwanted, pace = 1 }: StartOptions,
): Promise<void> {
  const deadline = performance.now() + timeoutMs
  for (;;) {
    if (isUnwanted()) throw new NotStarted('disposed', '')
    const { state } = pod
    if (state === 'gone') throw new NotStarted('failed-to-start', 'The pod was deleted before it ran.')
    if (state?.isRunning) return
    const failure = state && startFailure(state, image, hasSecret)
    if (failure !== undefined) throw new NotStarted('failed-to-start', failure)
    const end = state && explainPodEnd({ pod: state, stderr: '', spoke: false, image, program })
    if (end) throw new NotStarted(end.reason === 'exited' ? 'failed-to-start' : end.reason, end.detail)
    const leftMs = deadline - performance.now()
    if (leftMs <= 0) {
      const waited = `The pod did not run within ${Math.round(timeoutMs / 1000)} s`
      const isFull = state !== undefined && state.unschedulable !== ''
      throw new NotStarted(isFull ? 'no-room' : 'failed-to-start', state ? `${waited}: ${describeWait(state)}` : waited)
    }
    await pod.changedOrAsked(Math.min(ASK_MS * pace, leftMs))
  }
}
