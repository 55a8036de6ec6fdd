// `sandbridge trust`: allows a project's servers; without it, any project could run any command here.
import { BridgeError } from '@sandbridge/core/errors.ts'
import { placeholdersIn } from '@sandbridge/core/config/entries'
import type { RemoteServer, ServerDefinition, SignInClient } from '@sandbridge/core/config/entries'
import { createTrustStore } from '@sandbridge/core/config'
import { wholeCommandLine, wholeWord } from '@sandbridge/core/config/secrets'
import { print, printEmpty, printJson, printSummary, printTable } from '@sandbridge/core/serve/cli/terminal'
import { confirm } from '@sandbridge/shared/terminal/confirm.ts'
import { visibleInline } from '@sandbridge/core/serve/cli/terminal'
import { withBridge } from '@sandbridge/shared/open-bridge.ts'

interface TrustOptions {
  yes?: boolean
  remove?: string
  list?: boolean
  json?: boolean
}

/** @throws BridgeError TOOL_ARGUMENTS_INVALID for --json without --list: what is to be read first is text */
export async function trust(options: TrustOptions): Promise<void> {
  if (options.json && !options.list)
    throw new BridgeError('TOOL_ARGUMENTS_INVALID', '--json is for the list of trusted files', {
      hint: 'sandbridge trust --list --json',
    })
  await withBridge(async ({ settings, discovered }) => {
    const store = createTrustStore(settings.stateDir)
    if (options.list) return printTrusted(await store.list(), options)
    if (options.remove !== undefined) {
      const had = await store.untrust(options.remove)
      return print(had ? `${options.remove} is no longer trusted.` : `${options.remove} was not trusted.`)
    }
    const files = discovered.files.filter(({ trusted, serverCount }) => !trusted && serverCount > 0)
    if (files.length === 0) return print('Nothing to trust: no config file of this project defines untrusted servers.')
    for (const { file, hash } of files) {
      print(`${visibleInline(file)} defines:`)
      const own = discovered.found.filter((one) => one.definition.source.file === file)
      for (const { definition } of own) for (const line of linesOf(definition)) print(`  ${line}`)
      const inserted = new Set(own.flatMap(({ definition }) => Object.keys(definition.covers ?? {})))
      const texts = [file, ...inserted].map(visibleInline).join(' and ')
      if (options.yes || (await confirm(`Allow the bridge to start these servers? Read ${texts} first. [y/N] `))) {
        // Trusts the texts that were listed: a file that has changed since must be trusted again.
        await store.trust(file, hash)
        print(`Trusted. A change of ${inserted.size === 0 ? 'the file' : texts} requires trust again.`)
      }
    }
  })
}

function printTrusted(files: readonly string[], { json }: TrustOptions): void {
  if (json) return printJson(files)
  if (files.length === 0)
    return printEmpty('No project file is trusted. Trust one with `sandbridge trust` in its project.')
  printTable(
    files.map((file) => [file]),
    { head: ['TRUSTED FILE'] },
  )
  printSummary('Stop trusting one: sandbridge trust --remove FILE')
}

/**
 * Everything that decides what is run or reached, as written, with placeholders not filled in. For variables and
 * headers, only names.
 */
function linesOf({ name, transport }: ServerDefinition): string[] {
  const own = `${wholeWord(name)}: ${wholeCommandLine(transport)}`
  if (transport.type !== 'stdio') return [own, ...remoteLines(transport)]
  const { env, inheritEnv = [], cwd, envFile } = transport
  return [
    own,
    ...named('sets', Object.keys(env)),
    ...filledIn('passes', env, 'variable'),
    ...named('gets', inheritEnv),
    ...named('in the folder', cwd === undefined ? [] : [cwd]),
    ...named('with the variables of', envFile === undefined ? [] : [envFile]),
  ]
}

function remoteLines({ url, headers, headersHelper, oauth, signIn }: RemoteServer): string[] {
  const { clientId, clientSecret, ...others }: SignInClient = oauth ?? signIn ?? {}
  const secrets = given({ clientId, clientSecret })
  const open = given({ ...others })
  const fields = [...Object.keys(secrets), ...Object.entries(open).map(([field, value]) => `${field}=${value}`)]
  const signInPlace = others.tokenUrl ?? others.authServerMetadataUrl ?? others.issuer ?? url
  return [
    ...named('runs', headersHelper === undefined ? [] : [headersHelper]),
    ...named('headers', Object.keys(headers)),
    ...filledIn('sends', headers, 'header', url),
    ...named('signs in with', fields),
    ...filledIn('sends', secrets, 'oauth', signInPlace),
    ...filledIn('sends', open, 'oauth', signInPlace),
  ]
}

/**
 * Shows values that are filled in from the user's machine, and where they go: a header's name does not reveal that it
 * carries another service's key.
 */
function filledIn(verb: string, values: Record<string, string>, kind: string, address?: string): string[] {
  return Object.entries(values).flatMap(([name, text]) => {
    const written = placeholdersIn(text).map((one) => one.written.split(':-')[0]!)
    const found = [...new Set(written)].map((inner) => wholeWord(`\${${inner}}`))
    const where = address === undefined ? '' : ` to ${wholeWord(address)}`
    return found.length === 0 ? [] : [`  ${verb} ${found.join(' ')} in the ${kind} ${wholeWord(name)}${where}`]
  })
}

function given(fields: Record<string, string | undefined>): Record<string, string> {
  return Object.fromEntries(Object.entries(fields).filter((entry): entry is [string, string] => entry[1] !== undefined))
}

function named(what: string, names: string[]): string[] {
  return names.length === 0 ? [] : [`  ${what} ${names.map(wholeWord).join(' ')}`]
}
