// Finds the cluster that the bridge itself runs in, through its pod's service account.
import { access, readFile } from 'node:fs/promises'
import path from 'node:path'
import type { ClusterAccess, FindOptions } from './kubeconfig.ts'

const SERVICE_ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount'

/** Returns undefined outside a cluster, and in a pod without a service account. */
export async function findServiceAccount(options: FindOptions): Promise<ClusterAccess | undefined> {
  const { env, namespace, serviceAccount: folder = SERVICE_ACCOUNT } = options
  const host = env['KUBERNETES_SERVICE_HOST']
  const port = env['KUBERNETES_SERVICE_PORT'] ?? '443'
  if (host === undefined || host === '') return undefined
  const own = await readFile(path.join(folder, 'namespace'), 'utf8').catch(() => 'default')
  const tokenFile = path.join(folder, 'token')
  const hasToken = await access(tokenFile).then(
    () => true,
    () => false,
  )
  if (!hasToken) return undefined
  return {
    name: 'the cluster of this pod',
    server: new URL(`https://${host.includes(':') ? `[${host}]` : host}:${port}`),
    namespace: namespace ?? own.trim(),
    tlsServerName: undefined,
    skipTlsVerify: false,
    ca: { file: path.join(folder, 'ca.crt') },
    cert: undefined,
    key: undefined,
    token: { file: tokenFile },
    exec: undefined,
  }
}
