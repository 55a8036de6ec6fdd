// An authorization server whose responses a test controls: its metadata, its keys, and tokens with any header and
// claims. Loopback only.
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair, type JWK, type JWTPayload, SignJWT } from 'jose'
import { onTestFinished } from 'vitest'

export interface SigningKey {
  kid: string
  private: Awaited<ReturnType<typeof generateKeyPair>>['privateKey']
  public: JWK
}

export async function newKey(kid: string, alg = 'ES256'): Promise<SigningKey> {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true })
  return { kid, private: privateKey, public: { ...(await exportJWK(publicKey)), kid, alg, use: 'sig' } }
}

/** Undefined claims are left out. */
export type Claims = { [K in keyof JWTPayload]: JWTPayload[K] | undefined }

export const AUDIENCE = 'https://bridge.example.com/mcp'

export class TokenIssuer {
  issuer = ''
  key: SigningKey
  /** The content of the key set. */
  published: JWK[]
  /** Answers a request instead of the server; false leaves it to the server. */
  twist: (path: string, response: ServerResponse) => boolean = () => false
  /** The requested paths. */
  readonly asked: string[] = []

  constructor(key: SigningKey) {
    this.key = key
    this.published = [key.public]
  }

  get keySetCount(): number {
    return this.asked.filter((path) => path === '/keys').length
  }

  /** The claims of a valid token. */
  claims(changes: Claims = {}): JWTPayload {
    const now = Math.floor(Date.now() / 1000)
    const claims = { iss: this.issuer, aud: AUDIENCE, sub: 'ann', client_id: 'c', iat: now, exp: now + 60 }
    return Object.fromEntries(Object.entries({ ...claims, ...changes }).filter(([, value]) => value !== undefined))
  }

  sign(claims: Claims = {}, header: Record<string, unknown> = {}, key = this.key): Promise<string> {
    const { alg } = key.public
    return new SignJWT(this.claims(claims))
      .setProtectedHeader({ alg: alg!, typ: 'at+jwt', kid: key.kid, ...header })
      .sign(key.private, { crit: { 'urn:x': false } })
  }
}

/** Runs until the end of the test. */
export async function startIssuer(): Promise<TokenIssuer> {
  const issuer = new TokenIssuer(await newKey('first'))
  const server = createServer((request, response) => {
    const path = request.url ?? ''
    issuer.asked.push(path)
    if (issuer.twist(path, response)) return
    const answers: Record<string, object> = {
      '/.well-known/oauth-authorization-server': { issuer: issuer.issuer, jwks_uri: `${issuer.issuer}/keys` },
      '/keys': { keys: issuer.published },
    }
    const answer = answers[path]
    response.writeHead(answer ? 200 : 404, { 'content-type': 'application/json' }).end(JSON.stringify(answer ?? {}))
  })
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  issuer.issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return issuer
}
