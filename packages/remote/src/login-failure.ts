// Failures that a login or more scopes can fix: what the server requires, and what the user must do.
import { redactStart } from '@sandbridge/core/config/secrets'
import { BridgeError } from '@sandbridge/core/errors.ts'
import { causesOf, type Circumstances, statusOf } from '@sandbridge/core/upstream/failures'
import type { OwnCredentials } from '@sandbridge/core/upstream/auth'
import { SignInRequired } from './sign-in-required.ts'

const MAX_SCOPE_WORDS = 3

const MAX_SAID_CHARS = 300

const OWN: Record<OwnCredentials, { what: string; remedy: string }> = {
  'client credentials': {
    what: 'its client credentials',
    remedy: 'correct `oauth` in its entry',
  },
  headersHelper: {
    what: 'the headers that its headersHelper prints',
    remedy: 'run that command in a terminal, and correct it or the entry',
  },
  header: {
    what: 'the Authorization header in its entry',
    remedy: 'correct it, or to remove it and run `sandbridge login NAME`',
  },
}

function forUser(remedy: string): { hint: string; userHint: string } {
  const own = `${remedy[0]!.toUpperCase()}${remedy.slice(1)}`.replace(', or to ', ', or ')
  return { hint: `Ask the user to ${remedy}.`, userHint: `${own}.` }
}

/** Undefined for an error that no login can fix. @param said returns what the server wrote, not redacted */
export function loginNeeded(error: unknown, about: Circumstances, said: () => string): BridgeError | undefined {
  const { server, credentials } = about
  const scope = missingScope(error)
  if (scope !== undefined) return scopeNeeded(about, scope)
  const required = causesOf(error).find((cause) => cause instanceof SignInRequired)
  if (!required && statusOf(error) !== 401) return undefined
  const given = redactStart(about.redact, said(), MAX_SAID_CHARS)
  const words = given === '' ? '' : `: ${given}`
  if (credentials) {
    const text = `Server '${server}' does not accept ${OWN[credentials].what}${words}`
    return new BridgeError('UPSTREAM_AUTH_REQUIRED', text, forUser(OWN[credentials].remedy))
  }
  const signIn = signInSteps(about)
  if (required?.ended !== undefined && required.isKept) {
    const text = `The sign-in to server '${server}' could not be renewed: ${required.ended}`
    return new BridgeError('UPSTREAM_AUTH_REQUIRED', text, {
      hint: `The sign-in is still stored. Retry in a moment. If that fails, too, ask the user to sign in again: ${signIn.command}`,
      userHint: `The sign-in is still stored. Retry in a moment. If that fails, too, sign in again: ${signIn.command}`,
    })
  }
  if (required?.ended !== undefined) {
    const text = `The sign-in to server '${server}' has ended: ${required.ended}`
    return new BridgeError('UPSTREAM_AUTH_REQUIRED', text, {
      hint: `Ask the user to sign in again: ${signIn.command}`,
      userHint: `Sign in again: ${signIn.command}`,
    })
  }
  return new BridgeError('UPSTREAM_AUTH_REQUIRED', `Server '${server}' requires authentication (HTTP 401)${words}`, {
    hint: `Ask the user to ${signIn.asked}, or to write its credentials into \`headers\`.`,
    userHint: `${signIn.told}, or write its credentials into \`headers\`.`,
  })
}

/** What the user must do, for a sentence addressed to the model and for one addressed to the user. */
function signInSteps(about: Circumstances): { asked: string; told: string; command: string } {
  const address = about.signInPlace?.page?.addressFor(about.server)
  if (address !== undefined)
    return { asked: `open ${address} in a browser`, told: `Open ${address} in a browser`, command: address }
  const command = loginCommand(about)
  return { asked: `run ${command} in a terminal`, told: `Run ${command}`, command }
}

function loginCommand({ server, signInPlace }: Circumstances, more = ''): string {
  return `\`sandbridge login ${server}${signInPlace?.loginOptions ?? ''}${more}\``
}

/** Whether the text lists scope names instead of being a sentence: few words, without connecting words. */
function isListOfScopes(scope: string): boolean {
  const names = scope.split(' ')
  const words = names.filter((name) => !/[.:/_*+-]/.test(name))
  return (
    /^[\w.:/ +*-]{1,500}$/.test(scope) && words.length <= MAX_SCOPE_WORDS && names.every((name) => name.length <= 100)
  )
}

/**
 * A scope is text from the server: it is shown only if it cannot be a sentence or a command. A login knows it in any
 * case.
 */
function scopeNeeded(about: Circumstances, scope: string): BridgeError {
  const { server, credentials } = about
  const shown = isListOfScopes(scope) ? scope : undefined
  const named = shown === undefined ? '' : `: ${shown}`
  const has = credentials === 'client credentials' ? 'its client credentials have' : 'its token has'
  const signIn = signInSteps(about)
  let hint = `Ask the user to ${signIn.asked}. It requests them.`
  let userHint = `${signIn.told}. It requests them.`
  if (credentials) {
    const where = credentials === 'client credentials' ? '`scope` in the `oauth` of its definition' : 'its token'
    ;({ hint, userHint } = forUser(`add them to ${where}`))
  } else if (scope === '') {
    hint = `It does not say which. Ask the user to find out, and to run ${loginCommand(about, ' --scope …')} with them in a terminal.`
    userHint = `It does not say which. Find out, and run ${loginCommand(about, ' --scope …')} with them.`
  }
  const message = `Server '${server}' requires more permissions than ${credentials ? has : 'the login has'}${named}`
  return new BridgeError('UPSTREAM_AUTH_REQUIRED', message, { hint, userHint })
}

/** Empty when the server refused for a missing scope without naming it. */
function missingScope(error: unknown): string | undefined {
  for (const cause of causesOf(error)) {
    if (cause instanceof SignInRequired) return cause.requiredScope
    // The package's own error, for a server with an Authorization header of its own.
    if (cause.name === 'InsufficientScopeError') return (cause as { requiredScope?: string }).requiredScope ?? ''
  }
  return undefined
}
