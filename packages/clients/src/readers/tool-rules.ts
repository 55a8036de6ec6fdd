// Rules about tools that a client's file has beside its entries of servers, under the names that it gives tools.
import { OF_ANY_SERVER, type ServerEntry } from '@sandbridge/core/config/entries'
import type { ConfigObject } from '@sandbridge/core/config/formats'
import { isRecord, valueAt } from '@sandbridge/core/util/json/json.ts'
import { fitsGlob } from '@sandbridge/core/util/text'

/** Whether tools with such names are on: of the rules about a tool, the last one counts. `*` stands for any text. */
export type Rules = [pattern: string, isOn: boolean][]

type Restrictions = Pick<ServerEntry, 'includeTools' | 'excludeTools'>
const MAX_RULES = 1_000

/** A server's name as it stands in the names of its tools. */
export function plainServer(name: string): string {
  return name.replaceAll(/[^\w-]/g, '_')
}

/** @param lists of names of tools that are off; `builtin:` means none of a server */
export function namesOff(...lists: unknown[]): Rules {
  const names = lists.flat().filter((name) => typeof name === 'string' && !name.startsWith('builtin:'))
  return names.map((name): [string, boolean] => [name as string, false])
}

/** @param prefixes what the client may put in front of the names of the server's tools; '' for nothing, last */
export function restricted(
  { includeTools, excludeTools }: ServerEntry,
  prefixes: readonly string[],
  rules: Rules,
): Restrictions {
  // More are from no person: all is off.
  let included: Set<string> | undefined = rules.length > MAX_RULES ? new Set() : undefined
  let excluded = new Set<string>()
  const ofServer = new Set<string>()
  for (const [pattern, isOn] of rules.slice(0, MAX_RULES)) {
    const rest = restOf(pattern, prefixes)
    if (rest === undefined) continue
    if (/^\*(?:_+\*)?$/.test(rest)) {
      included = isOn ? undefined : new Set()
      excluded = new Set()
    }
    for (const name of rest === '*' ? [] : new Set([rest, rest.replace(/^\*_+/, '')])) {
      ;(isOn ? included : excluded)?.add(name)
      ;(isOn ? excluded : included)?.delete(name)
      if (prefixes.some((one) => one !== '' && pattern.startsWith(one))) ofServer.add(name)
    }
  }
  const off = [...excluded].map((name) => (ofServer.has(name) ? name : `${OF_ANY_SERVER}${name}`))
  const own = Array.isArray(includeTools) ? includeTools.map(String) : undefined
  return {
    ...(included && { includeTools: own?.filter((one) => included.has(one)) ?? [...included] }),
    ...(off.length > 0 && { excludeTools: [excludeTools ?? [], ...off].flat() }),
  }
}

/** The part of a pattern that is about the name which the server has for a tool; undefined for another server's. */
function restOf(pattern: string, prefixes: readonly string[]): string | undefined {
  const prefix = prefixes.find((one) => pattern.startsWith(one))
  if (prefix) return pattern.slice(prefix.length)
  const star = pattern.indexOf('*')
  if (star !== -1 && prefixes.some((one) => one !== '' && one.startsWith(pattern.slice(0, star))))
    return pattern.slice(star)
  return prefix === undefined || /^mcp[_:]/.test(pattern) ? undefined : pattern
}

/** Of its rules, the first one counts. A condition on arguments cannot be kept: such a rule switches the tool off. */
export function ofAmp(document: ConfigObject, server: string, entry: ServerEntry): Partial<ServerEntry> {
  const listed = (name: string): ConfigObject[] => [document[name] ?? []].flat().filter(isRecord)
  const rules = listed('amp.permissions').flatMap(({ tool, action, matches }): Rules => {
    return action === 'reject' || matches === undefined ? [[String(tool), action !== 'reject']] : []
  })
  const first = listed('amp.mcpPermissions').find(({ matches, action }) =>
    fitsServer(matches, entry, action === 'reject'),
  )
  return {
    ...(first?.['action'] === 'reject' && { disabled: true }),
    ...restricted(
      entry,
      [`mcp__${server}__`, `mcp__${plainServer(server)}__`, ''],
      [...rules.toReversed(), ...namesOff(document['amp.tools.disable'])],
    ),
  }
}

/** @param ofRegExp whether a server fits what is a regular expression, which is not tried */
function fitsServer(matches: unknown, { command, args, url }: ServerEntry, ofRegExp: boolean): boolean {
  const words = Array.isArray(args) ? args.join(' ') : ''
  const texts = new Map([
    ['command', typeof command === 'string' ? [command, `${command} ${words}`] : []],
    ['args', [words]],
    ['url', typeof url === 'string' ? [url] : []],
  ])
  const fits = (pattern: string, text: string): boolean =>
    /^\/.*\/$/.test(pattern) ? ofRegExp : fitsGlob(pattern, text)
  return Object.entries(isRecord(matches) ? matches : {}).every(([field, patterns]) =>
    texts.get(field)?.some((text) => [patterns].flat().some((pattern) => fits(String(pattern), text))),
  )
}

export function ofZed(document: ConfigObject, server: string, entry: ServerEntry): Partial<ServerEntry> {
  const rules = valueAt(document, 'agent', 'tool_permissions')
  const tools = valueAt(rules, 'tools')
  const table = { '*': rules, ...(isRecord(tools) && tools) }
  const isOn = (rule: unknown): boolean => valueAt(rule, 'default') !== 'deny'
  return restricted(
    entry,
    [`mcp:${server}:`],
    Object.entries(table).map(([name, rule]) => [name, isOn(rule)]),
  )
}
