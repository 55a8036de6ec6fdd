// `sandbridge token`: creates, lists and revokes named tokens for clients of `run --http`.
import { BridgeError } from '@sandbridge/core/errors.ts'
import { print, printEmpty, printJson, printTable } from '@sandbridge/core/serve/cli/terminal'
import { ownStore } from '@sandbridge/shared/own-store.ts'
import { NamedTokens } from './named-tokens.ts'

const UNITS = { m: 60_000, h: 3_600_000, d: 86_400_000 } as const
/** Within the range of JavaScript dates, and longer than anyone needs. */
const MAX_MS = 36_500 * UNITS.d

export async function createToken(name: string, { expires }: { expires?: string }): Promise<void> {
  const until = expires === undefined ? undefined : expiryOf(expires, Date.now())
  print(await (await tokens()).create(name, until))
  const end = until ? `It expires on ${until.toISOString()}. ` : ''
  process.stderr.write(`The token is not shown again. ${end}Revoke it: sandbridge token revoke ${name}\n`)
}

export async function listTokens({ json }: { json?: boolean }): Promise<void> {
  const all = Object.entries(await (await tokens()).list()).map(([name, token]) => ({
    name,
    created: token.created,
    expires: token.expires,
    expired: token.expires !== undefined && Date.parse(token.expires) <= Date.now(),
  }))
  if (json) return printJson(all)
  if (all.length === 0) return printEmpty('No named tokens yet. Create one: sandbridge token create ann --expires 90d')
  printTable(
    all.map(({ name, created, expires = 'never', expired }) => [
      { text: name, style: 'cyan' },
      created,
      expires,
      expired ? 'expired' : '',
    ]),
    { head: ['TOKEN', 'CREATED', 'EXPIRES', ''] },
  )
}

export async function revokeToken(name: string): Promise<void> {
  await (await tokens()).revoke(name)
  print(`Revoked the token ${name}.`)
}

async function tokens(): Promise<NamedTokens> {
  return new NamedTokens(await ownStore())
}

/** @throws BridgeError TOOL_ARGUMENTS_INVALID for an invalid duration */
function expiryOf(text: string, now: number): Date {
  const [, number, unit] = /^([1-9]\d{0,6})([mhd])$/.exec(text) ?? []
  const ms = Number(number) * UNITS[unit as keyof typeof UNITS]
  if (ms <= MAX_MS) return new Date(now + ms)
  throw new BridgeError('TOOL_ARGUMENTS_INVALID', `--expires: '${text}' is not a duration`, {
    hint: 'Write 90m, 12h or 90d, at most 36500d.',
  })
}
