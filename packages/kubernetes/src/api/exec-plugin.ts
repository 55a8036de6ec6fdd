// Runs the program that signs in to a cluster (client.authentication.k8s.io), and reads the credential it prints. The
// caller keeps the credential until it expires. Messages never contain the program's stdout.
import { BridgeError } from '@sandbridge/core/errors.ts'
import { mergedEnvironment, runCommand } from '@sandbridge/core/util/process'
import { isRecord, parseJson } from '@sandbridge/core/util/json/json.ts'
import { oneLine } from '@sandbridge/core/util/text'
import type { ClusterAccess, ExecPlugin } from './kubeconfig.ts'

export interface ExecCredential {
  token: string | undefined
  cert: string | undefined
  key: string | undefined
  /** Milliseconds since 1970; undefined: valid until the cluster refuses it. */
  expiresAt: number | undefined
}

const TIMEOUT_MS = 30_000
const MAX_REASON_CHARS = 300

/** @throws BridgeError SANDBOX_ENGINE_MISSING if the program fails or prints no credential */
export async function runExecPlugin(
  plugin: ExecPlugin,
  { server, skipTlsVerify, tlsServerName }: Pick<ClusterAccess, 'server' | 'skipTlsVerify' | 'tlsServerName'>,
  ca: string | undefined,
  timeoutMs = TIMEOUT_MS,
): Promise<ExecCredential> {
  const cluster = {
    server: server.href.replace(/\/$/, ''),
    ...(tlsServerName !== undefined && { 'tls-server-name': tlsServerName }),
    ...(skipTlsVerify && { 'insecure-skip-tls-verify': true }),
    ...(ca !== undefined && { 'certificate-authority-data': Buffer.from(ca).toString('base64') }),
  }
  const spec = { interactive: false, ...(plugin.provideClusterInfo && { cluster }) }
  const info = { apiVersion: plugin.apiVersion, kind: 'ExecCredential', spec }
  const { code, stdout, stderr, missing } = await runCommand(plugin.command, plugin.args, {
    timeoutMs,
    env: mergedEnvironment([process.env, plugin.env, { KUBERNETES_EXEC_INFO: JSON.stringify(info) }]),
  })
  if (missing) throw failed(plugin, 'it is not installed')
  if (code !== 0)
    throw failed(plugin, oneLine(stderr.split('\n').at(-1) ?? '', MAX_REASON_CHARS) || `it exited with ${code}`)
  const printed = parseJson(stdout)
  const status = isRecord(printed) && isRecord(printed['status']) ? printed['status'] : undefined
  const field = (name: string): string | undefined => {
    const value = status?.[name]
    return typeof value === 'string' && value !== '' ? value : undefined
  }
  const [token, cert, key] = [field('token'), field('clientCertificateData'), field('clientKeyData')]
  if (!isRecord(printed) || printed['apiVersion'] !== plugin.apiVersion || (token === undefined && cert === undefined))
    throw failed(plugin, `it printed no ExecCredential of ${plugin.apiVersion}`)
  if ((cert === undefined) !== (key === undefined)) throw failed(plugin, 'it printed a certificate without its key')
  const expires = Date.parse(field('expirationTimestamp') ?? '')
  return { token, cert, key, expiresAt: Number.isNaN(expires) ? undefined : expires }
}

function failed({ command, installHint }: ExecPlugin, reason: string): BridgeError {
  return new BridgeError('SANDBOX_ENGINE_MISSING', `Signing in to the cluster with ${command} failed: ${reason}.`, {
    hint: installHint
      ? oneLine(installHint, MAX_REASON_CHARS)
      : 'Run `kubectl get pods` to see whether it works there.',
  })
}
