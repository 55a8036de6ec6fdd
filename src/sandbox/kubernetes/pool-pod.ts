// A pod of a warm pool, which an administrator's template has made: what the bridge asks of it, and what it is sent before anything else. Pure.
// deploy/agent-sandbox has a template that meets it.
import { isRecord } from '../../text/json.ts'
import { CONTAINER, MANAGED_BY } from './pod-manifest.ts'

/** Of the length in front of the program. Partner of the program in deploy/agent-sandbox/sandboxes.yaml. */
const LENGTH_DIGITS = 10

/** What the pod waits for on stdin. @param args arguments of python3, the program after `-c` */
export function poolProgram(args: readonly string[], environment: Readonly<Record<string, string>>): Buffer {
  const at = args.indexOf('-c') + 1
  const text = Buffer.from(JSON.stringify({ program: args[at], words: args.slice(at + 1), environment }))
  return Buffer.concat([Buffer.from(String(text.byteLength).padStart(LENGTH_DIGITS)), text])
}

/** In which ways a pod is not what the bridge would have made; empty when it may be used. @param pod as the cluster has it */
export function poolPodProblems(pod: unknown): string[] {
  const { metadata, spec } = record(pod)
  const { labels } = record(metadata)
  const { automountServiceAccountToken, hostNetwork, hostPID, hostIPC, restartPolicy, ...rest } = record(spec)
  const containers = array(rest['containers'])
  const [container] = containers.map(record)
  const ofPod = record(rest['securityContext'])
  const ofContainer = record(container?.['securityContext'])
  const capabilities = record(ofContainer['capabilities'])
  const { runAsNonRoot, runAsUser, seccompProfile } = { ...ofPod, ...ofContainer }
  const [[managedKey, managedBy]] = Object.entries(MANAGED_BY) as [[string, string]]
  const limits = record(record(container?.['resources'])['limits'])
  const isMet: Record<string, boolean> = {
    [`the label ${managedKey}=${managedBy}`]: record(labels)[managedKey] === managedBy,
    [`one container, with the name ${CONTAINER}`]: containers.length === 1 && container?.['name'] === CONTAINER,
    'no initContainers and no ephemeralContainers':
      array(rest['initContainers']).length === 0 && array(rest['ephemeralContainers']).length === 0,
    'stdin and stdinOnce, without a tty':
      container?.['stdin'] === true && container['stdinOnce'] === true && container['tty'] !== true,
    'automountServiceAccountToken: false': automountServiceAccountToken === false,
    'no namespace of its node': !hostNetwork && !hostPID && !hostIPC,
    'restartPolicy: Never': restartPolicy === 'Never',
    'runAsNonRoot: true': runAsNonRoot === true && runAsUser !== 0,
    'seccompProfile RuntimeDefault or Localhost': ['RuntimeDefault', 'Localhost'].includes(
      String(record(seccompProfile)['type']),
    ),
    'allowPrivilegeEscalation: false': ofContainer['allowPrivilegeEscalation'] === false && !ofContainer['privileged'],
    'no capabilities': array(capabilities['drop']).includes('ALL') && array(capabilities['add']).length === 0,
    'readOnlyRootFilesystem: true': ofContainer['readOnlyRootFilesystem'] === true,
    'volumes that are emptyDirs': array(rest['volumes']).every((volume) => isRecord(record(volume)['emptyDir'])),
    'no variables from elsewhere':
      array(container?.['envFrom']).length === 0 && array(container?.['env']).every((one) => !record(one)['valueFrom']),
    'a limit on memory': typeof limits['memory'] === 'string',
  }
  return Object.entries(isMet)
    .filter(([, met]) => !met)
    .map(([what]) => what)
}

/** Of its first container. */
export function imageOf(pod: unknown): string {
  const [container] = array(record(record(pod)['spec'])['containers'])
  const { image } = record(container)
  return typeof image === 'string' ? image : ''
}

function record(value: unknown): Record<string, unknown> {
  return isRecord(value) ? value : {}
}

function array(value: unknown): unknown[] {
  return Array.isArray(value) ? value : []
}
