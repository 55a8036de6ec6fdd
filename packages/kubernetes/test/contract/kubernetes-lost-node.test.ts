// @module-tag whole: it starts sandboxes in a made-up cluster
// This file verifies what a session in Kubernetes is told when its pod's node is unreachable or the cluster has given
// the node up, on a fake cluster.
import { afterEach, expect, it } from 'vitest'
import { Kernel } from '../../../core/src/cell/kernel/kernel.ts'
import { openPods } from '../support/fake-cluster/pods.ts'
import { MEMORY_BYTES } from '@sandbridge/core/test/support/sandboxes/cell-runner.ts'
import { providerOrSkip } from '@sandbridge/core/test/support/sandboxes/engines.ts'
import { status } from '../support/fake-cluster/answers.ts'

const { cluster, provider } = await openPods({ keepSeconds: 60 })
afterEach(() => cluster.heal())

/** A pod that belongs to a session and to no bridge. */
async function leftPod(owner: string): Promise<string> {
  const sandbox = await provider.start({ memoryBytes: MEMORY_BYTES })
  await Kernel.attach(sandbox)
  await sandbox.durable!.keep({ owner })
  await sandbox.durable!.leave()
  return sandbox.id
}

it('a session whose node does not answer is told so and can be tried again, and one whose node was given up starts over', async () => {
  await providerOrSkip('bubblewrap')
  const session = { owner: 'a'.repeat(64) }
  const name = await leftPod(session.owner)
  const why = 'error dialing backend: dial tcp 10.0.0.2:10250: connect: no route to host'
  cluster.fail({ path: /\/attach$/, status: 500, body: status(500, 'InternalError', why) })
  await expect(provider.resume!(session)).rejects.toMatchObject({
    code: 'SANDBOX_BUSY',
    message: expect.stringMatching(new RegExp(`node of the kept sandbox ${name} does not answer.*${why}. No code ran`)),
  })
  cluster.heal()
  const { sandbox } = await provider.resume!(session)
  expect(sandbox?.id).toBe(name)
  const { place } = sandbox!.durable!
  await sandbox!.durable!.leave()
  cluster.loseNode(name)
  expect(await provider.resume!({ ...session, place })).toEqual({
    note: 'The kept sandbox has ended, and its variables are gone.',
  })
})
