import type { Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { ClusterAccess } from '../../src/api/kubeconfig.ts'
import type { Pair } from '@sandbridge/core/test/support/machine/make-certificate.ts'

/** How to reach a test's API server, which listens on loopback with this certificate. */
export function accessTo(server: Server, { cert }: Pair, more: Partial<ClusterAccess> = {}): ClusterAccess {
  return {
    name: 'test',
    server: new URL(`https://127.0.0.1:${(server.address() as AddressInfo).port}`),
    namespace: 'default',
    tlsServerName: undefined,
    skipTlsVerify: false,
    ca: { text: cert },
    cert: undefined,
    key: undefined,
    token: { text: 'secret' },
    exec: undefined,
    ...more,
  }
}
