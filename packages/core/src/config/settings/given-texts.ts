// The texts of settings from environment variables and settings.json, before they are parsed. Several settings may
// share a variable: `MCP_BRIDGE_POOL="1 max=8"` has the text `1` for one and `8` for the other.
import { nearestName } from '../../util/text/did-you-mean.ts'
import { idOf, type NamedSetting } from './setting-kinds.ts'

/** What settings.json says. */
export interface FileSettings {
  /** Each value as its variable would hold it, and its place: file, line and name. By `idOf` the setting. */
  texts: ReadonlyMap<string, { text: string; place: string }>
  /** Each makes the file invalid. */
  problems: readonly string[]
  warnings: readonly string[]
}

/** By `idOf` the setting. `place` is the variable, or file, line and name. */
export interface Given {
  texts: Map<string, { text: string; place: string }>
  problems: string[]
  remarks: string[]
}

type Variables = Readonly<Record<string, string | undefined>>

/** A variable wins over settings.json; a blank one counts as missing. */
export function givenTexts(all: readonly NamedSetting[], variables: Variables, file: FileSettings): Given {
  const given: Given = { texts: new Map(file.texts), problems: [], remarks: [...file.warnings] }
  for (const variable of new Set(all.map(({ setting }) => setting.variable))) {
    const text = variables[variable]?.trim()
    if (text) readVariable(variable, text, all, given)
  }
  return given
}

function readVariable(variable: string, text: string, all: readonly NamedSetting[], { texts, problems }: Given): void {
  const settings = all.filter(({ setting }) => setting.variable === variable).map(({ setting }) => setting)
  const members = settings.flatMap(({ member }) => member ?? [])
  if (members.length === 0) return void texts.set(variable, { text, place: variable })
  const main: string[] = []
  for (const word of text.split(/\s+/)) {
    const member = members.find((one) => word.startsWith(`${one}=`))
    if (member === undefined) main.push(word)
    else {
      const id = idOf({ variable, member })
      texts.set(id, { text: word.slice(member.length + 1), place: id })
    }
  }
  if (main.length === 0) return
  const wrong = main.find((word) => word.includes('='))
  if (wrong === undefined && settings.some(({ member }) => member === undefined))
    return void texts.set(variable, { text: main.join(' '), place: variable })
  // What follows a misspelt name may be a secret, and so may a word alone.
  const name = wrong?.split('=', 1)[0]
  const near = name === undefined ? undefined : nearestName(name, members)
  const hint = near === undefined ? '' : ` Did you mean ${near}?`
  const what = name === undefined ? 'a word without a name' : JSON.stringify(name.slice(0, 80))
  problems.push(`${variable}: ${what} is not allowed.${hint} Allowed: name=value, with ${members.join(', ')}.`)
}
