// Current credentials: rereads files, which rotate, and reruns a sign-in program when its own expire.
import { readFile } from 'node:fs/promises'
import { BridgeError } from '@sandbridge/core/errors.ts'
import { type ExecCredential, runExecPlugin } from './exec-plugin.ts'
import type { ClusterAccess, Material } from './kubeconfig.ts'

interface TlsOptions {
  ca?: string
  cert?: string
  key?: string
  servername?: string
  rejectUnauthorized: boolean
}

export interface Credentials {
  tls: TlsOptions
  token: string | undefined
}

/** Age at which files are read again. A kubelet replaces a token long before it expires. */
const FRESH_MS = 10_000
/** Safety margin, so that a request arrives before the credential expires. */
const BEFORE_EXPIRY_MS = 60_000

export class CredentialSource {
  readonly #access: ClusterAccess
  readonly #now: () => number
  #read: { at: number; value: Promise<Credentials> } | undefined
  #signedIn: ExecCredential | undefined

  constructor(access: ClusterAccess, now: () => number = Date.now) {
    this.#access = access
    this.#now = now
  }

  /** @throws BridgeError SANDBOX_ENGINE_MISSING if a file cannot be read or signing in fails */
  get(): Promise<Credentials> {
    const at = this.#now()
    if (this.#read && at - this.#read.at < FRESH_MS) return this.#read.value
    const value = this.#load()
    this.#read = { at, value }
    value.catch(() => this.forget())
    return value
  }

  /** The cluster refused the credentials: read the files and sign in again. */
  forget(): void {
    this.#read = undefined
    this.#signedIn = undefined
  }

  async #load(): Promise<Credentials> {
    const { tlsServerName, skipTlsVerify, exec } = this.#access
    const [ca, cert, key, token] = await Promise.all(
      [this.#access.ca, this.#access.cert, this.#access.key, this.#access.token].map(content),
    )
    const signedIn = exec && (await this.#signIn(ca))
    const pair = signedIn?.cert === undefined ? { cert, key } : { cert: signedIn.cert, key: signedIn.key }
    return {
      tls: {
        ...(ca !== undefined && { ca }),
        ...(pair.cert !== undefined && { cert: pair.cert }),
        ...(pair.key !== undefined && { key: pair.key }),
        ...(tlsServerName !== undefined && { servername: tlsServerName }),
        rejectUnauthorized: !skipTlsVerify,
      },
      token: signedIn?.token ?? token?.trim(),
    }
  }

  async #signIn(ca: string | undefined): Promise<ExecCredential> {
    const { expiresAt = Infinity } = this.#signedIn ?? {}
    if (this.#signedIn && this.#now() < expiresAt - BEFORE_EXPIRY_MS) return this.#signedIn
    this.#signedIn = await runExecPlugin(this.#access.exec!, this.#access, ca)
    return this.#signedIn
  }
}

async function content(material: Material | undefined): Promise<string | undefined> {
  if (!material || 'text' in material) return material?.text
  return readFile(material.file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new BridgeError('SANDBOX_ENGINE_MISSING', `${material.file} cannot be read: ${error.code}.`, {
      hint: 'Your kubeconfig file names it. Run `kubectl get pods` to see whether it works there.',
    })
  })
}
