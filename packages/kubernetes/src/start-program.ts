// Starts a program in a pod, then creates its Secret, which it waits for: no Secret outlives its pod.
import { BridgeError } from '@sandbridge/core/errors.ts'
import type { Program, StartedProgram } from '@sandbridge/core/isolation'
import type { Cluster } from './cluster.ts'
import { PodSandbox, type PodSandboxOptions } from './pod-sandbox.ts'
import type { podManifest } from './pod/pod-manifest.ts'
import { needsSecret, programManifest, programPolicyManifest, secretManifest } from './pod/program-manifest.ts'

interface StartOptions extends Pick<PodSandboxOptions, 'name' | 'startTimeoutMs' | 'pace'> {
  cluster: Cluster
  pod: ReturnType<typeof podManifest>
}

/** @throws BridgeError, ApiError, ApiUnreachable if the cluster does not accept the pod or an object it needs */
export async function startProgram(
  program: Program,
  { cluster, pod, name, ...options }: StartOptions,
): Promise<StartedProgram> {
  // Keeps an existing policy: it may allow less.
  const addPolicy = () => cluster.create('networkpolicies', programPolicyManifest())
  if (program.hasNetwork) await cluster.explained('create', 'networkpolicies', addPolicy)
  const { image, command, onStderr } = program
  const hasSecret = needsSecret(program)
  const manifest = programManifest(pod, program)
  const words = { program: command ?? 'its program', hasSecret, onStderr }
  const started = await PodSandbox.create({
    ...options,
    ...words,
    cluster,
    name,
    image,
    manifest,
    preamble: Buffer.alloc(0),
  })
  if (!hasSecret) return started
  try {
    await cluster.create('secrets', secretManifest(name, await uidOf(cluster, name), program))
    return started
  } catch (error) {
    void started.dispose()
    throw cluster.explain(error, { verb: 'create', resource: 'secrets' })
  }
}

async function uidOf(cluster: Cluster, name: string): Promise<string> {
  const pod = await cluster.getPod(name)
  if (pod !== 'gone' && pod.uid !== '') return pod.uid
  throw new BridgeError('SANDBOX_START_FAILED', `The cluster says nothing of the pod ${name}`)
}
