// The `oauth` of an entry: how a program signs in, or what is known of a user's sign-in in a browser. Pure.
import { isObject, type ConfigObject } from './config-document.ts'
import { EntryInvalid, isPresent, optionalText, requiredText, texts } from './entry-fields.ts'
import type { ClientCredentials, RemoteServer, SignInClient } from './server-definition.ts'

/**
 * A client may keep something else under this name, such as whether it may sign in at all: that is no reason to leave a server out.
 * @throws EntryInvalid
 */
export function oauthOf(value: unknown): Pick<RemoteServer, 'oauth' | 'signIn'> {
  if (!isObject(value)) return {}
  if (value['grant'] === 'client_credentials') return { oauth: clientCredentials(value) }
  const signIn = signInClient(value)
  return Object.keys(signIn).length > 0 ? { signIn } : {}
}

function clientCredentials(value: ConfigObject): ClientCredentials {
  const scope = scopeOf(value)
  const issuer = optionalText(value['issuer'], 'oauth.issuer')
  return {
    clientId: requiredText(value['clientId'], 'oauth.clientId'),
    clientSecret: requiredText(value['clientSecret'], 'oauth.clientSecret'),
    ...(scope === undefined ? {} : { scope }),
    ...(issuer === undefined ? {} : { issuer }),
  }
}

function signInClient(value: ConfigObject): SignInClient {
  const scope = scopeOf(value)
  const clientId = filledText(value['clientId'], 'oauth.clientId')
  if (clientId === undefined) {
    const redirectUri = chosenAddress(value)
    return { ...(scope === undefined ? {} : { scope }), ...(redirectUri === undefined ? {} : { redirectUri }) }
  }
  const clientSecret = filledText(value['clientSecret'], 'oauth.clientSecret')
  const issuer = filledText(value['issuer'], 'oauth.issuer')
  const port = portOf(value['callbackPort'])
  const redirectUri =
    filledText(value['redirectUri'], 'oauth.redirectUri') ?? (port === undefined ? undefined : callbackAt(port))
  return {
    clientId,
    ...(clientSecret === undefined ? {} : { clientSecret }),
    ...(scope === undefined ? {} : { scope }),
    ...(redirectUri === undefined ? {} : { redirectUri }),
    ...(issuer === undefined ? {} : { issuer }),
  }
}

/** Where a client that is yet to be registered awaits answers, when its port was chosen. What is no port is no reason to leave a server out. */
function chosenAddress({ callbackPort, redirectUri }: ConfigObject): string | undefined {
  const port = toPort(callbackPort)
  if (port === undefined) return undefined
  return (typeof redirectUri === 'string' && redirectUri.trim()) || callbackAt(port)
}

function callbackAt(port: number): string {
  return `http://127.0.0.1:${port}/callback`
}

/** A text or a list, under either name. */
function scopeOf(value: ConfigObject): string | undefined {
  const scope = value['scope'] ?? value['scopes']
  const text = Array.isArray(scope) ? texts(scope, 'oauth.scopes')?.join(' ') : optionalText(scope, 'oauth.scope')
  return text?.trim() || undefined
}

/** Forms that a program fills in leave an empty text where nothing was given. */
function filledText(value: unknown, field: string): string | undefined {
  return optionalText(value, field)?.trim() || undefined
}

function portOf(value: unknown): number | undefined {
  if (!isPresent(value)) return undefined
  const port = toPort(value)
  if (port === undefined) throw new EntryInvalid('has an oauth.callbackPort that is not a port')
  return port
}

function toPort(value: unknown): number | undefined {
  const number = typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value
  return typeof number === 'number' && Number.isInteger(number) && number > 0 && number < 65_536 ? number : undefined
}
