// The objects for a program in a pod, such as an MCP server: the hardened pod of pod-manifest.ts with another command in it, the Secret that has all of
// its arguments and variables, and the policy that lets some of them reach the internet. Pure.
import type { Program } from '../provider.ts'
import { MANAGED_BY, type podManifest } from './pod-manifest.ts'

const PROGRAM_POLICY_NAME = 'sandbridge-server-network'
const ROLE = { 'sandbridge/role': 'server' }
const NETWORK = { 'sandbridge/network': 'internet' }

/** Variables that arguments come in: the kubelet puts their values in the place of `$(NAME)`. */
const ARGUMENT = 'SANDBRIDGE_ARGUMENT_'
const HOME = '/home/sandbridge'
/** What uvx and npx download is on the disk of the node: as memory, it would count as the pod's. */
const FOLDERS = [
  { name: 'home', mountPath: HOME, emptyDir: { sizeLimit: '1Gi' } },
  { name: 'tmp', mountPath: '/tmp', emptyDir: { medium: 'Memory', sizeLimit: '64Mi' } },
]

/** Addresses that are not the internet: those of clusters, of their nodes, and of clouds' metadata services. */
const PRIVATE_V4 = ['10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12', '192.168.0.0/16']
const PRIVATE_V6 = ['::1/128', 'fc00::/7', 'fe80::/10']
const NAME_PORT = 53

/** @param pod as `podManifest` makes it for a kernel */
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
          // An image that starts by itself does so where it says.
          workingDir: folder ?? (command === undefined ? undefined : HOME),
          env: Object.hasOwn(program.environment, 'HOME') ? [] : [{ name: 'HOME', value: HOME }],
          envFrom: needsSecret(program) ? [{ secretRef: { name: metadata.name } }] : [],
          // Its end is told with what it wrote last.
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

/** It goes with its pod. @param uid of the pod */
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

/** Beside the policy that denies everything to all pods of the bridge: policies add up. It knows addresses, and no names. */
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
