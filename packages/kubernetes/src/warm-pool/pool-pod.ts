// Pods of a warm pool, created from an administrator's template: the bridge's requirements, and what it sends them
// first. The template in packages/kubernetes/deploy/agent-sandbox meets the requirements. Pure.
import { fieldsOf, isRecord, itemsOf } from '@sandbridge/core/util/json/json.ts'
import { CONTAINER, MANAGED_BY } from '../pod/pod-manifest.ts'

/**
 * Digits of the length before the program. Must match the program in
 * packages/kubernetes/deploy/agent-sandbox/sandboxes.yaml.
 */
const LENGTH_DIGITS = 10

/** Returns what the pod expects on stdin. @param args arguments of python3, the program after `-c` */
export function poolProgram(args: readonly string[], environment: Readonly<Record<string, string>>): Buffer {
  const at = args.indexOf('-c') + 1
  const text = Buffer.from(JSON.stringify({ program: args[at], words: args.slice(at + 1), environment }))
  return Buffer.concat([Buffer.from(String(text.byteLength).padStart(LENGTH_DIGITS)), text])
}

/** Lists the differences from the bridge's own pods; empty if the pod may be used. @param pod the cluster's object */
export function poolPodProblems(pod: unknown): string[] {
  const { metadata, spec } = fieldsOf(pod)
  const { labels } = fieldsOf(metadata)
  const { automountServiceAccountToken, hostNetwork, hostPID, hostIPC, restartPolicy, ...rest } = fieldsOf(spec)
  const containers = itemsOf(rest['containers'])
  const [container] = containers.map(fieldsOf)
  const ofPod = fieldsOf(rest['securityContext'])
  const ofContainer = fieldsOf(container?.['securityContext'])
  const capabilities = fieldsOf(ofContainer['capabilities'])
  const { runAsNonRoot, runAsUser, seccompProfile, appArmorProfile } = { ...ofPod, ...ofContainer }
  const [[managedKey, managedBy]] = Object.entries(MANAGED_BY) as [[string, string]]
  const limits = fieldsOf(fieldsOf(container?.['resources'])['limits'])
  const isMet: Record<string, boolean> = {
    [`the label ${managedKey}=${managedBy}`]: fieldsOf(labels)[managedKey] === managedBy,
    [`one container, with the name ${CONTAINER}`]: containers.length === 1 && container?.['name'] === CONTAINER,
    'no initContainers and no ephemeralContainers':
      itemsOf(rest['initContainers']).length === 0 && itemsOf(rest['ephemeralContainers']).length === 0,
    'stdin and stdinOnce, without a tty':
      container?.['stdin'] === true && container['stdinOnce'] === true && container['tty'] !== true,
    'automountServiceAccountToken: false': automountServiceAccountToken === false,
    'no namespace of its node': !hostNetwork && !hostPID && !hostIPC,
    'restartPolicy: Never': restartPolicy === 'Never',
    'runAsNonRoot: true': runAsNonRoot === true && runAsUser !== 0,
    'seccompProfile RuntimeDefault or Localhost': ['RuntimeDefault', 'Localhost'].includes(
      String(fieldsOf(seccompProfile)['type']),
    ),
    'no AppArmor profile Unconfined': fieldsOf(appArmorProfile)['type'] !== 'Unconfined',
    'procMount Default and no sysctls':
      (ofContainer['procMount'] ?? 'Default') === 'Default' && itemsOf(ofPod['sysctls']).length === 0,
    'allowPrivilegeEscalation: false': ofContainer['allowPrivilegeEscalation'] === false && !ofContainer['privileged'],
    'no capabilities': itemsOf(capabilities['drop']).includes('ALL') && itemsOf(capabilities['add']).length === 0,
    'readOnlyRootFilesystem: true': ofContainer['readOnlyRootFilesystem'] === true,
    'volumes that are emptyDirs': itemsOf(rest['volumes']).every((volume) => isRecord(fieldsOf(volume)['emptyDir'])),
    'no variables from elsewhere':
      itemsOf(container?.['envFrom']).length === 0 &&
      itemsOf(container?.['env']).every((one) => !fieldsOf(one)['valueFrom']),
    'a limit on memory': typeof limits['memory'] === 'string',
  }
  return Object.entries(isMet)
    .filter(([, met]) => !met)
    .map(([what]) => what)
}

/** Returns the image of its first container. */
export function imageOf(pod: unknown): string {
  const [container] = itemsOf(fieldsOf(fieldsOf(pod)['spec'])['containers'])
  const { image } = fieldsOf(container)
  return typeof image === 'string' ? image : ''
}
