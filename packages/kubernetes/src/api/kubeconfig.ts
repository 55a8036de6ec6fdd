// Finds the cluster and the user as kubectl does: the merged files of KUBECONFIG, ~/.kube/config, or the service
// account of the bridge's own pod. Only reads files: keeps no credentials, and contacts no server.
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { BridgeError } from '@sandbridge/core/errors.ts'
import { isRecord } from '@sandbridge/core/util/json/json.ts'
import { type Entry, invalid, type Merged, mergeFiles } from './kubeconfig-files.ts'

/** A file, reread when it may have changed, or its content. */
export type Material = { file: string } | { text: string }

/** A program that signs in, as defined by `users[].user.exec`. */
export interface ExecPlugin {
  apiVersion: string
  command: string
  args: string[]
  env: Record<string, string>
  installHint: string | undefined
  provideClusterInfo: boolean
}

/** A cluster, and the bridge's user there. */
export interface ClusterAccess {
  /** Name of the cluster in messages. */
  name: string
  server: URL
  namespace: string
  tlsServerName?: string | undefined
  skipTlsVerify: boolean
  ca: Material | undefined
  cert?: Material | undefined
  key?: Material | undefined
  token: Material | undefined
  exec?: ExecPlugin | undefined
}

export interface FindOptions {
  env: Readonly<Record<string, string | undefined>>
  home: string
  context?: string | undefined
  namespace?: string | undefined
  /** Replaced in tests. */
  serviceAccount?: string
}

const SERVICE_ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount'
const EXEC_VERSIONS = ['client.authentication.k8s.io/v1', 'client.authentication.k8s.io/v1beta1']

/** @throws BridgeError CONFIG_INVALID if a file is invalid, SANDBOX_ENGINE_MISSING if no cluster is configured */
export async function findCluster(options: FindOptions): Promise<ClusterAccess> {
  const { env, home } = options
  const named = (env['KUBECONFIG'] ?? '').split(path.delimiter).filter((file) => file !== '')
  const merged = await mergeFiles(named.length > 0 ? named : [path.join(home, '.kube', 'config')])
  if (merged.files.length === 0 && options.context === undefined) {
    const inCluster = await findServiceAccount(options)
    if (inCluster) return inCluster
  }
  if (merged.files.length === 0) {
    const places = named.length > 0 ? `KUBECONFIG names no file that exists (${named.join(', ')})` : 'no ~/.kube/config'
    throw new BridgeError('SANDBOX_ENGINE_MISSING', `No Kubernetes cluster is configured: ${places}.`, {
      hint: 'Set KUBECONFIG, or run the bridge in a pod with a service account. docs/kubernetes.md says what it needs.',
    })
  }
  return fromContext(merged, options)
}

/**
 * The cluster that the bridge itself runs in. Returns undefined outside a cluster, and in a pod without a service
 * account.
 */
async function findServiceAccount(options: FindOptions): Promise<ClusterAccess | undefined> {
  const { env, namespace, serviceAccount: folder = SERVICE_ACCOUNT } = options
  const host = env['KUBERNETES_SERVICE_HOST']
  const port = env['KUBERNETES_SERVICE_PORT'] ?? '443'
  if (host === undefined || host === '') return undefined
  const own = await readFile(path.join(folder, 'namespace'), 'utf8').catch(() => 'default')
  const tokenFile = path.join(folder, 'token')
  if (!existsSync(tokenFile)) return undefined
  return {
    name: 'the cluster of this pod',
    server: new URL(`https://${host.includes(':') ? `[${host}]` : host}:${port}`),
    namespace: namespace ?? own.trim(),
    skipTlsVerify: false,
    ca: { file: path.join(folder, 'ca.crt') },
    token: { file: tokenFile },
  }
}

function fromContext(merged: Merged, { context, namespace }: FindOptions): ClusterAccess {
  const name = context ?? merged.currentContext
  if (name === undefined) throw invalid(`${merged.files.join(', ')} sets no current-context`, CHOOSE_CONTEXT)
  const chosen = merged.contexts.get(name)?.value
  if (!chosen) throw invalid(`there is no context '${name}' in ${merged.files.join(', ')}`, CHOOSE_CONTEXT)
  const cluster = merged.clusters.get(field(chosen, 'cluster') ?? '')
  if (!cluster) throw invalid(`context '${name}' names a cluster that is not defined`)
  const user = merged.users.get(field(chosen, 'user') ?? '') ?? { value: {}, folder: cluster.folder }
  refuseUnsupported(name, cluster.value, user.value)
  return {
    name,
    server: address(field(cluster.value, 'server'), name),
    namespace: namespace ?? field(chosen, 'namespace') ?? 'default',
    tlsServerName: field(cluster.value, 'tls-server-name'),
    skipTlsVerify: cluster.value['insecure-skip-tls-verify'] === true,
    ca: material(cluster, 'certificate-authority'),
    cert: material(user, 'client-certificate'),
    key: material(user, 'client-key'),
    token: token(user),
    exec: execPlugin(user),
  }
}

const CHOOSE_CONTEXT = 'Set MCP_BRIDGE_KUBERNETES=context to one of `kubectl config get-contexts`.'

/** Refuses fields that, if ignored, would connect differently or as another user. */
function refuseUnsupported(context: string, cluster: Record<string, unknown>, user: Record<string, unknown>): void {
  const unsupported = [
    ...['proxy-url'].filter((name) => name in cluster),
    ...['auth-provider', 'username', 'password', 'as', 'as-uid', 'as-groups', 'as-user-extra'].filter(
      (name) => name in user,
    ),
  ]
  if (unsupported.length === 0) return
  throw invalid(
    `context '${context}' uses ${unsupported.join(', ')}, which the bridge does not support`,
    'Use a client certificate, a token or an exec plugin, and an address that is reached directly.',
  )
}

function address(server: string | undefined, context: string): URL {
  if (server !== undefined && URL.canParse(server)) {
    const url = new URL(server)
    if (url.protocol === 'https:') return url
  }
  throw invalid(`the server of context '${context}' is not an https address`)
}

function material({ value, folder }: Entry, name: string): Material | undefined {
  const data = field(value, `${name}-data`)
  if (data !== undefined) return { text: Buffer.from(data, 'base64').toString('utf8') }
  const file = field(value, name)
  return file === undefined ? undefined : { file: path.resolve(folder, file) }
}

/** A file takes precedence over a text, because it can be rotated. */
function token({ value, folder }: Entry): Material | undefined {
  const file = field(value, 'tokenFile')
  if (file !== undefined) return { file: path.resolve(folder, file) }
  const bare = field(value, 'token')
  return bare === undefined ? undefined : { text: bare }
}

function execPlugin({ value, folder }: Entry): ExecPlugin | undefined {
  const { exec } = value
  if (!isRecord(exec)) return undefined
  const [command, apiVersion] = [field(exec, 'command'), field(exec, 'apiVersion')]
  if (command === undefined) throw invalid('an exec plugin has no command')
  if (apiVersion === undefined || !EXEC_VERSIONS.includes(apiVersion))
    throw invalid(
      `the exec plugin ${command} uses ${apiVersion ?? 'no apiVersion'}; ${EXEC_VERSIONS.join(' and ')} work`,
    )
  if (exec['interactiveMode'] === 'Always')
    throw invalid(`the exec plugin ${command} always asks in a terminal, which the bridge does not have`)
  const { args, env } = exec
  return {
    apiVersion,
    // As in kubectl: a path is relative to the file that contains it, a bare name is looked up in PATH.
    command: /[/\\]/.test(command) ? path.resolve(folder, command) : command,
    args: Array.isArray(args) ? args.map(String) : [],
    env: Object.fromEntries(
      (Array.isArray(env) ? (env as unknown[]) : [])
        .filter(isRecord)
        .map((entry) => [String(entry['name']), String(entry['value'])]),
    ),
    installHint: field(exec, 'installHint'),
    provideClusterInfo: exec['provideClusterInfo'] === true,
  }
}

function field(value: Record<string, unknown>, name: string): string | undefined {
  const found = value[name]
  return typeof found === 'string' && found !== '' ? found : undefined
}
