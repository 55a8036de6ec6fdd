// Session handles that any replica can read: session, pod and expiry, encrypted with a key that all share. User and
// namespace are authenticated, too: a handle of another is rejected as forged.
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'

/** The content of a handle. */
export interface HandleContent {
  /** 12 bytes, in hexadecimal. */
  session: string
  /** The pod, as named by the provider. */
  place: { name: string; uid: string }
  /** Milliseconds since 1970. */
  expiresAt: number
}

const ALGORITHM = 'aes-256-gcm'
const NONCE_BYTES = 12
const TAG_BYTES = 16
const SESSION_BYTES = 12
/** A pod's name after its fixed prefix, and the whole UID. */
const NAME_BYTES = 8
const UID_BYTES = 16
const EXPIRY_BYTES = 6
const CONTENT_BYTES = SESSION_BYTES + NAME_BYTES + UID_BYTES + EXPIRY_BYTES
const SEALED_BYTES = NONCE_BYTES + CONTENT_BYTES + TAG_BYTES
const NAME_PREFIX = 'sandbridge-'

export class HandleSeal {
  /** The first key seals. All keys can open. */
  readonly #keys: readonly Buffer[]
  readonly #namespace: string

  /** @param secrets long random texts that all replicas share, separated by spaces @param namespace of the pods */
  constructor(secrets: string, namespace: string) {
    this.#keys = secrets
      .split(' ')
      .map((secret) => Buffer.from(hkdfSync('sha256', secret, '', 'sandbridge session handle 1', 32)))
    this.#namespace = namespace
  }

  newSession(): string {
    return randomBytes(SESSION_BYTES).toString('hex')
  }

  seal({ session, place, expiresAt }: HandleContent, user: string | undefined): string {
    const content = Buffer.alloc(CONTENT_BYTES)
    let at = content.write(session, 0, SESSION_BYTES, 'hex')
    at += content.write(place.name.slice(NAME_PREFIX.length), at, NAME_BYTES, 'hex')
    at += content.write(place.uid.replaceAll('-', ''), at, UID_BYTES, 'hex')
    content.writeUIntBE(Math.floor(expiresAt), at, EXPIRY_BYTES)
    const nonce = randomBytes(NONCE_BYTES)
    const cipher = createCipheriv(ALGORITHM, this.#keys[0]!, nonce).setAAD(this.#about(user))
    return Buffer.concat([nonce, cipher.update(content), cipher.final(), cipher.getAuthTag()]).toString('base64url')
  }

  /** Returns undefined for a handle that is invalid, expired or another user's. */
  open(handle: string, user: string | undefined, now: number): HandleContent | undefined {
    const bytes = Buffer.from(handle, 'base64url')
    // Base64url has several spellings of the same bytes; accept only the canonical one.
    if (bytes.length !== SEALED_BYTES || bytes.toString('base64url') !== handle) return undefined
    const content = this.#decipher(bytes, user)
    if (!content) return undefined
    const expiresAt = content.readUIntBE(CONTENT_BYTES - EXPIRY_BYTES, EXPIRY_BYTES)
    if (expiresAt <= now) return undefined
    const hex = content.toString('hex')
    const name = hex.slice(2 * SESSION_BYTES, 2 * (SESSION_BYTES + NAME_BYTES))
    const uid = hex.slice(2 * (SESSION_BYTES + NAME_BYTES), 2 * (CONTENT_BYTES - EXPIRY_BYTES))
    return {
      session: hex.slice(0, 2 * SESSION_BYTES),
      place: {
        name: NAME_PREFIX + name,
        uid: uid.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5'),
      },
      expiresAt,
    }
  }

  #decipher(bytes: Buffer, user: string | undefined): Buffer | undefined {
    for (const key of this.#keys) {
      const decipher = createDecipheriv(ALGORITHM, key, bytes.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES })
        .setAAD(this.#about(user))
        .setAuthTag(bytes.subarray(-TAG_BYTES))
      try {
        return Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()])
      } catch {
        // Try the next key.
      }
    }
    return undefined
  }

  #about(user: string | undefined): Buffer {
    return Buffer.from(JSON.stringify([this.#namespace, user ?? null]))
  }
}
