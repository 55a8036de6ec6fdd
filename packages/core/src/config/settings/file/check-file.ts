// Checks the text of settings.json, and turns each value into the text of its variable, so that one parser serves both.
// No problem repeats a value of the wrong kind: it may be a secret in the wrong place.
import { readJsonTree } from '../../formats/json-tree.ts'
import { isRecord } from '../../../util/json/json.ts'
import { nearestName } from '../../../util/text/did-you-mean.ts'
import type { FileSettings } from '../given-texts.ts'
import { idOf, type JsonForm, type NamedSetting, type Setting, type SettingContext } from '../setting-kinds.ts'
import { namedSettings, notAllowed, visibleName } from '../settings.ts'

/** Maximum number of problems to report. */
const MAX_TOLD = 20

/**
 * @param file is named in problems and places
 * @param knowsAll false before features have added their settings: an unknown name may be one of theirs
 */
export function checkSettings(text: string, file: string, context: SettingContext, knowsAll = true): FileSettings {
  if (text.trim() === '') return { texts: new Map(), problems: [], warnings: [] }
  const tree = readJsonTree(text)
  if ('reason' in tree) return invalid([`${file}:${tree.place.line}:${tree.place.column}: ${tree.reason}`])
  if (!isRecord(tree.value)) return invalid([`${file}:1:1: holds a list or a single value, not an object`])

  const all = namedSettings()
  const texts = new Map<string, { text: string; place: string }>()
  const problems: string[] = []
  const at = (path: string[]): string => {
    const { line, column } = tree.at(path)
    return `${file}:${line}:${column}`
  }
  for (const [group, values] of Object.entries(tree.value)) {
    if (group === '$schema') continue
    if (problems.length >= MAX_TOLD) break
    const members = all.filter((one) => one.group === group)
    if (members.length === 0 && !knowsAll) continue
    else if (members.length === 0) problems.push(`${at([group])}: ${unknownGroup(group, all)}`)
    else if (!isRecord(values)) problems.push(`${at([group])}: ${group}: is not an object with settings`)
    else {
      for (const [key, value] of Object.entries(values)) {
        if (problems.length >= MAX_TOLD) break
        const place = at([group, key])
        const known = members.find((one) => one.key === key)
        if (!known && !knowsAll) continue
        const read = known ? textOf(value, known.setting, context) : { reason: unknownKey(key, group, all) }
        const name = visibleName(`${group}.${key}`)
        if ('reason' in read) problems.push(`${place}: ${name}: ${read.reason}`)
        else texts.set(idOf(known!.setting), { text: read.text, place: `${place}: ${name}` })
      }
    }
  }
  return { texts, problems, warnings: [] }
}

const invalid = (problems: string[]): FileSettings => ({ texts: new Map(), problems, warnings: [] })

/** The text of a setting's variable, or why the value is refused. */
function textOf(value: unknown, setting: Setting<unknown>, context: SettingContext): { text: string } | Refused {
  const { json, separator, variable, onlyVariable } = setting
  if (onlyVariable !== undefined) return { reason: `is set by ${variable} only: ${onlyVariable}` }
  if (!hasType(value, json)) return { reason: `is not ${KINDS[String(json.type)]}. ${allowedIn(setting)}` }
  if (Array.isArray(value)) {
    const items = value.map((item) => item.trim())
    if (items.length === 0) return { reason: 'is empty: remove it to have the default' }
    if (items.some((item) => item === '' || SPLITS[separator ?? ',']!.test(item)))
      return { reason: 'has an empty item, or one that is several: write each as an item of its own' }
    return parsed(items.join(separator), setting, context)
  }
  const text = typeof value === 'boolean' ? (value ? '1' : '0') : String(value).trim()
  return text === '' ? { reason: 'is empty: remove it to have the default' } : parsed(text, setting, context)
}

interface Refused {
  reason: string
}

/** What separates the items of a variable. */
const SPLITS: Readonly<Record<string, RegExp>> = { ',': /[\s,]/, ' ': /\s/, ':': /:/, ';': /;/ }

const KINDS: Readonly<Record<string, string>> = {
  boolean: 'true or false',
  number: 'a number',
  integer: 'a whole number',
  string: 'a text in quotes',
  'string,integer': 'a text or a number',
  array: 'a list of texts, such as ["a", "b"]',
}

function parsed(text: string, setting: Setting<unknown>, context: SettingContext): { text: string } | Refused {
  return setting.parse(text, context) === undefined ? { reason: notAllowed(setting, text) } : { text }
}

function allowedIn({ json, allowed }: Setting<unknown>): string {
  return json.type === 'boolean' ? '' : `Allowed: ${allowed}.`
}

function hasType(value: unknown, { type }: JsonForm): value is boolean | number | string | string[] {
  if (type === 'array') return Array.isArray(value) && value.every((item) => typeof item === 'string')
  if (type === 'integer') return Number.isInteger(value)
  if (typeof type === 'string') return typeof value === type
  return typeof value === 'string' || Number.isInteger(value)
}

function unknownGroup(name: string, all: readonly NamedSetting[]): string {
  const meant = settingNamed(name, all) ?? all.find(({ key }) => key === name)
  if (meant) return `${visibleName(name)} is written as "${meant.group}": {"${meant.key}": …}`
  if (name === 'mcpServers') return 'mcpServers: servers belong into another file of this folder'
  return `${visibleName(name)} is not a group of settings.${suggested(name, new Set(all.map(({ group }) => group)))}`
}

function unknownKey(key: string, group: string, all: readonly NamedSetting[]): string {
  const names = all.filter((one) => one.group === group).map((one) => one.key)
  const here = nearestName(key, names)
  const elsewhere = settingNamed(key, all) ?? all.find((one) => one.key === key)
  if (elsewhere && here === undefined) return `is not a setting. It is ${elsewhere.name}.`
  const near = here ?? all.find(({ key: other }) => nearestName(key, [other]))?.name
  return `is not a setting.${near === undefined ? '' : ` Did you mean ${near}?`}`
}

/** The setting of a name such as `output.tokens`, or of a variable. */
export function settingNamed(name: string, all: readonly NamedSetting[]): NamedSetting | undefined {
  return all.find(({ name: own, setting }) => own === name || idOf(setting) === name)
}

/** ` Did you mean …?` or an empty text. */
function suggested(name: string, known: Iterable<string>): string {
  const near = nearestName(name, known)
  return near === undefined ? '' : ` Did you mean ${near}?`
}
