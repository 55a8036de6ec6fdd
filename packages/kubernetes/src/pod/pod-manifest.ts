// Manifests of the objects that the bridge creates in a cluster: pods that meet the Pod Security level `restricted`,
// and their network policy. Every hardening field is here and nowhere else. Pure.

/** Labels with which the bridge finds its pods, and the policy selects all of them. */
export const MANAGED_BY = { 'app.kubernetes.io/managed-by': 'sandbridge' }
export const MANAGED_SELECTOR = Object.entries(MANAGED_BY)
  .map(([key, value]) => `${key}=${value}`)
  .join(',')
export const BRIDGE_LABEL = 'sandbridge/bridge'
export const CONTAINER = 'kernel'
export const POLICY_NAME = 'sandbridge-no-network'

const MIB = 1 << 20
/** Folders that cells can write to: memory that counts as the pod's. The container runtime gives /dev/shm 64 MiB. */
const WRITABLE = { tmp: '/tmp', workspace: '/workspace' }
const SIZES: Readonly<Record<string, string>> = { tmp: '64Mi', workspace: '128Mi', projects: '64Mi' }
/**
 * Largest file in the pod, as large as its largest folder: without it, the termination log could fill the node's disk.
 */
export const FILE_BYTES = 128 * MIB
/** Ends a pod that no bridge removes. */
const DEADLINE_S = 24 * 60 * 60
/**
 * How long a pod outlives an unreachable node. An ordinary pod, lost with its connection, need not wait the usual five
 * minutes: the bridge has noticed sooner. A pod that outlives bridges is usable again when its node is back.
 */
const LOST_NODE_S = { ordinary: 20, durable: 300 }
const LOST_NODE_TAINTS = ['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable']
/** All data of the channel is also written to the node's container log. */
const DISK = { requests: '64Mi', limits: '1Gi' }
/** If no number of CPUs is set. */
const CPU = { requests: '100m', limits: '1' }

export interface PodOptions {
  name: string
  /** Id of the bridge that creates it. */
  bridge: string
  /** Describes that bridge for people: machine and process. */
  startedBy: string
  image: string
  user: number
  group: number
  memoryBytes: number
  cpus: number | undefined
  projects: boolean
  runtimeClass: string | undefined
  /** A file in the kubelets' seccomp folder; missing: the container runtime's profile. */
  seccompProfile?: string | undefined
  environment: Readonly<Record<string, string>>
  pythonArgs: readonly string[]
  /** For a pod that outlives the bridge: labels and annotations with which bridges find it. */
  durable?: { labels: Record<string, string>; annotations: Record<string, string> } | undefined
}

export function podManifest(options: PodOptions) {
  const { name, memoryBytes, cpus, runtimeClass } = options
  const cpu =
    cpus === undefined ? CPU : { requests: `${Math.ceil(cpus * 1000)}m`, limits: `${Math.ceil(cpus * 1000)}m` }
  const folders = { ...WRITABLE, ...(options.projects && { projects: '/projects' }) }
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      labels: { ...MANAGED_BY, [BRIDGE_LABEL]: options.bridge, ...options.durable?.labels },
      annotations: {
        'sandbridge/started-by': options.startedBy,
        'cluster-autoscaler.kubernetes.io/safe-to-evict': 'false',
        ...options.durable?.annotations,
      },
    },
    spec: {
      restartPolicy: 'Never',
      nodeSelector: { 'kubernetes.io/os': 'linux' },
      activeDeadlineSeconds: DEADLINE_S,
      terminationGracePeriodSeconds: 1,
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      hostname: 'sandbox',
      // No DNS: no server is configured in the pod.
      dnsPolicy: 'None',
      dnsConfig: { nameservers: ['127.0.0.1'] },
      ...(runtimeClass !== undefined && { runtimeClassName: runtimeClass }),
      securityContext: {
        runAsNonRoot: true,
        runAsUser: options.user,
        runAsGroup: options.group,
        seccompProfile:
          options.seccompProfile === undefined
            ? { type: 'RuntimeDefault' }
            : { type: 'Localhost', localhostProfile: options.seccompProfile },
      },
      tolerations: LOST_NODE_TAINTS.map((key) => ({
        key,
        operator: 'Exists',
        effect: 'NoExecute',
        tolerationSeconds: options.durable ? LOST_NODE_S.durable : LOST_NODE_S.ordinary,
      })),
      containers: [
        {
          name: CONTAINER,
          image: options.image,
          imagePullPolicy: 'IfNotPresent',
          command: ['python3'],
          args: options.pythonArgs.map(unexpanded),
          workingDir: '/',
          env: Object.entries(options.environment).map(([key, value]) => ({ name: key, value: unexpanded(value) })),
          stdin: true,
          // A lost connection closes stdin, and the sandbox ends itself, unless it is to outlive the bridge.
          stdinOnce: options.durable === undefined,
          tty: false,
          resources: {
            requests: { memory: String(memoryBytes), cpu: cpu.requests, 'ephemeral-storage': DISK.requests },
            limits: { memory: String(memoryBytes), cpu: cpu.limits, 'ephemeral-storage': DISK.limits },
          },
          securityContext: {
            allowPrivilegeEscalation: false,
            privileged: false,
            readOnlyRootFilesystem: true,
            capabilities: { drop: ['ALL'] },
          },
          volumeMounts: Object.entries(folders).map(([volume, mountPath]) => ({ name: volume, mountPath })),
        },
      ],
      volumes: Object.keys(folders).map((volume) => ({
        name: volume,
        emptyDir: { medium: 'Memory', sizeLimit: SIZES[volume] },
      })),
    },
  }
}

/** Escapes `$(NAME)`, which the kubelet would replace. */
function unexpanded(text: string): string {
  return text.replaceAll('$', '$$$$')
}

/** Denies all traffic for all pods of all bridges in the namespace. Attaching does not use the pod's network. */
export function networkPolicyManifest() {
  return {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    metadata: { name: POLICY_NAME, labels: MANAGED_BY },
    spec: { podSelector: { matchLabels: MANAGED_BY }, policyTypes: ['Ingress', 'Egress'] },
  }
}
