// Manifests for a program in a pod, such as an MCP server: the hardened pod of pod-manifest.ts with another command,
// the Secret with all its arguments and variables, and the policy that allows some of them to reach the internet. Pure.
import type { Program } from '@sandbridge/core/isolation'
import { MANAGED_BY, type podManifest } from './pod-manifest.ts'

const PROGRAM_POLICY_NAME = 'sandbridge-server-network'
const ROLE = { 'sandbridge/role': 'server' }
const NETWORK = { 'sandbridge/network': 'internet' }

/** Prefix of variables that hold arguments: the kubelet replaces `$(NAME)` with their values. */
const ARGUMENT = 'SANDBRIDGE_ARGUMENT_'
const HOME = '/home/sandbridge'
/** On the node's disk, for downloads of uvx and npx: memory would count as the pod's. */
const FOLDERS = [
  { name: 'home', mountPath: HOME, emptyDir: { sizeLimit: '1Gi' } },
  { name: 'tmp', mountPath: '/tmp', emptyDir: { medium: 'Memory', sizeLimit: '64Mi' } },
]

/** Addresses outside the internet: those of clusters, their nodes, and metadata services of clouds. */
const PRIVATE_V4 = ['10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12', '192.168.0.0/16']
const PRIVATE_V6 = ['::1/128', 'fc00::/7', 'fe80::/10']
const NAME_PORT = 53

/** @param pod the result of `podManifest` for a kernel */
export function programManifest(pod: ReturnType<typeof podManifest>, program: Program): object {
  const { metadata, spec } = pod
  const { command, folder, hasNetwork } = program
  const container = spec.containers[0]!
  return {
    ...pod,
    metadata: {
      ...metadata,
      labels: { ...metadata.labels, ...ROLE, ...(hasNetwork && NETWORK) },
      annotations: { ...metadata.annotations, 'sandbridge/server': program.name },
    },
    spec: {
      ...spec,
      hostname: 'server',
      ...(hasNetwork && { dnsPolicy: 'ClusterFirst', dnsConfig: {} }),
      containers: [
        {
          ...container,
          command: command === undefined ? undefined : [command.replaceAll('$', '$$$$')],
          args: program.args.map((_, index) => `$(${ARGUMENT}${index})`),
          // An image that starts its own program chooses its folder.
          workingDir: folder ?? (command === undefined ? undefined : HOME),
          env: Object.hasOwn(program.environment, 'HOME') ? [] : [{ name: 'HOME', value: HOME }],
          envFrom: needsSecret(program) ? [{ secretRef: { name: metadata.name } }] : [],
          // Reports the last output with the end.
          terminationMessagePolicy: 'FallbackToLogsOnError',
          volumeMounts: FOLDERS.map(({ name, mountPath }) => ({ name, mountPath })),
        },
      ],
      volumes: FOLDERS.map(({ name, emptyDir }) => ({ name, emptyDir })),
    },
  }
}

export function needsSecret({ args, environment }: Program): boolean {
  return args.length > 0 || Object.keys(environment).length > 0
}

/** Deleted with its pod. @param uid of the pod */
export function secretManifest(name: string, uid: string, { args, environment }: Program): object {
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    type: 'Opaque',
    immutable: true,
    metadata: { name, labels: MANAGED_BY, ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name, uid }] },
    stringData: { ...environment, ...Object.fromEntries(args.map((text, index) => [`${ARGUMENT}${index}`, text])) },
  }
}

/**
 * Added to the policy that denies everything to all pods of the bridge: policies are additive. Lists addresses, not
 * names.
 */
export function programPolicyManifest() {
  const anywhere = [
    { ipBlock: { cidr: '0.0.0.0/0', except: PRIVATE_V4 } },
    { ipBlock: { cidr: '::/0', except: PRIVATE_V6 } },
  ]
  const names = ['UDP', 'TCP'].map((protocol) => ({ port: NAME_PORT, protocol }))
  return {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    metadata: { name: PROGRAM_POLICY_NAME, labels: MANAGED_BY },
    spec: {
      podSelector: { matchLabels: { ...MANAGED_BY, ...NETWORK } },
      policyTypes: ['Egress'],
      egress: [{ ports: names }, { to: anywhere }],
    },
  }
}
