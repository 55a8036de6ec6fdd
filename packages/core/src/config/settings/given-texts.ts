// What variables and settings.json say, before it is read. Several settings may share a variable: of
// `MCP_BRIDGE_POOL="1 max=8"`, the setting of the variable gets `1` and the one of its word `max` gets `8`.
import { nearestName } from '../../util/text/did-you-mean.ts'
import type { Setting } from './setting-kinds.ts'
import { unquoted } from '../../util/files/absolute-path.ts'

/** A value and its place: the variable, or file, line and name. By the variable of the setting. */
export type Values = ReadonlyMap<string, { value: unknown; place: string }>

/** What settings.json says. */
export interface FileSettings {
  values: Values
  /** Each makes the file invalid. */
  problems: readonly string[]
  warnings: readonly string[]
}

type Named = Pick<Setting<unknown>, 'variable'>

/** `MCP_BRIDGE_POOL` of `MCP_BRIDGE_POOL=max`. */
export function variableOf({ variable }: Named): string {
  return variable.split('=', 1)[0]!
}

/** A variable wins over settings.json; a blank one, and the `-` of a table, count as missing. */
export function givenValues(
  all: readonly Named[],
  variables: Readonly<Record<string, string | undefined>>,
  file: FileSettings,
): { values: Values; problems: string[] } {
  const values = new Map(file.values)
  const problems: string[] = []
  for (const variable of new Set(all.map(variableOf))) {
    const text = unquoted(variables[variable] ?? '')
    if (text === '' || text === '-') continue
    const ids = all.map((one) => one.variable).filter((id) => id === variable || id.startsWith(`${variable}=`))
    const words = ids.flatMap((id) => id.slice(variable.length + 1) || [])
    if (words.length === 0) values.set(variable, { value: text, place: variable })
    else
      for (const [id, value] of wordsOf(variable, text, words)) {
        if (ids.includes(id)) values.set(id, { value, place: id })
        else problems.push(`${variable}: ${unknownWord(value, words)}`)
      }
  }
  return { values, problems }
}

/** The value of each `name=value`, and of the variable itself. What belongs to no setting has the name of none. */
function wordsOf(variable: string, text: string, names: readonly string[]): Map<string, string> {
  const found = new Map<string, string>()
  const main: string[] = []
  // `max = 4` and `idle=2 min` are one word.
  const joined = text
    .replaceAll(/ *= */g, '=')
    .replaceAll(/(=[\d.,]+) +(?=(?:ms|[smhd]|(?:sec|min|hour|day)\w*)(?:\s|$))/gi, '$1')
  for (const word of joined.split(/\s+/)) {
    const name = names.find((one) => word.startsWith(`${one}=`))
    if (name === undefined) main.push(word)
    else found.set(`${variable}=${name}`, unquoted(word.slice(name.length + 1)))
  }
  const wrong = main.find((word) => word.includes('='))
  if (wrong !== undefined) found.set('', wrong)
  else if (main.length > 0) found.set(variable, main.join(' '))
  return found
}

/** What follows a misspelt name may be a secret, and so may a word alone. */
function unknownWord(word: string, names: readonly string[]): string {
  const name = word.includes('=') ? word.split('=', 1)[0]! : undefined
  const near = name === undefined ? undefined : nearestName(name, names)
  const hint = near === undefined ? '' : ` Did you mean ${near}?`
  const what = name === undefined ? 'a word without a name' : JSON.stringify(name.slice(0, 80))
  return `${what} is not allowed.${hint} Allowed: name=value, with ${names.join(', ')}.`
}
