// Tokens named after a person or program. Kept as SHA-256: a token is random, so its hash reveals nothing.
import { createHash, randomBytes } from 'node:crypto'
import * as z from 'zod'
import { BridgeError } from '@sandbridge/core/errors.ts'
import { isStoredName, JsonDocument, type Store } from '@sandbridge/core/util/stores'
import { didYouMeanText } from '@sandbridge/core/util/text'

const NAME = /^[a-z0-9][a-z0-9_-]{0,63}$/

const namedToken = z.object({
  sha256: z.string().regex(/^[\da-f]{64}$/),
  created: z.iso.datetime(),
  expires: z.iso.datetime().optional(),
})
const namedTokens = z.record(z.string().regex(NAME), namedToken)

export type NamedToken = z.infer<typeof namedToken>

/** Hashes a token; the length is always the same. */
export function hashOf(token: string): Buffer {
  return createHash('sha256').update(token).digest()
}

export function hasExpired({ expires }: Pick<NamedToken, 'expires'>, now = Date.now()): boolean {
  return expires !== undefined && Date.parse(expires) <= now
}

export class NamedTokens {
  readonly #document: JsonDocument<Record<string, NamedToken>>

  constructor(store: Store) {
    this.#document = new JsonDocument({
      document: store.document('http-tokens.json'),
      empty: () => ({}),
      parse: (json) => namedTokens.safeParse(json).data,
      damaged: { name: 'The list of tokens', hint: 'Delete it and create the tokens again.' },
    })
  }

  list(): Promise<Record<string, NamedToken>> {
    return this.#document.read()
  }

  async create(name: string, expires?: Date): Promise<string> {
    // The user gets a folder of this name.
    if (!NAME.test(name) || !isStoredName(name)) {
      throw new BridgeError('CONFIG_INVALID', `'${name.slice(0, 80)}' is not a valid name of a token`, {
        hint: 'Use lower-case letters, digits, - and _, and no name of a device of Windows, such as con.',
      })
    }
    // Secret scanners recognise the prefix.
    const token = `sandbridge_${randomBytes(32).toString('base64url')}`
    await this.#document.update((all) => {
      const old = Object.hasOwn(all, name) ? all[name] : undefined
      if (old && !hasExpired(old)) {
        throw new BridgeError('CONFIG_INVALID', `There is a token '${name}'`, {
          hint: `Choose another name, or revoke it first: sandbridge token revoke ${name}`,
        })
      }
      all[name] = {
        sha256: hashOf(token).toString('hex'),
        created: new Date().toISOString(),
        ...(expires && { expires: expires.toISOString() }),
      }
    })
    return token
  }

  async revoke(name: string): Promise<void> {
    await this.#document.update((all) => {
      if (Object.hasOwn(all, name)) return void delete all[name]
      const names = Object.keys(all)
      throw new BridgeError('CONFIG_INVALID', `There is no token '${name.slice(0, 80)}'`, {
        hint: didYouMeanText(name, names) || 'List them with `sandbridge token list`.',
      })
    })
  }
}
