// Checks the text of settings.json: its names, and each value as that of its variable.
import * as z from 'zod'
import { readJsonTree } from '../../formats/json-tree.ts'
import { isRecord } from '../../../util/json/json.ts'
import { nearestName } from '../../../util/text/did-you-mean.ts'
import type { FileSettings } from '../given-texts.ts'
import { parse, type SettingContext } from '../setting-kinds.ts'
import { type NamedSetting, namedSettings, notAllowed, visibleName } from '../settings.ts'

const MAX_TOLD = 20
/** Longest number or choice that is shown. */
const MAX_PLAIN = 24

/** @param file is named in problems and places */
export function checkSettings(text: string, file: string, context: SettingContext): FileSettings {
  if (text.trim() === '') return { values: new Map(), problems: [], warnings: [] }
  const tree = readJsonTree(text)
  if ('reason' in tree) return invalid([`${file}:${tree.place.line}:${tree.place.column}: ${tree.reason}`])
  if (!isRecord(tree.value)) return invalid([`${file}:1:1: holds a list or a single value, not an object`])

  const all = namedSettings()
  const given = new Map<string, { value: unknown; place: string }>()
  const problems: string[] = []
  const at = (path: string[]): string => {
    const { line, column } = tree.at(path)
    return `${file}:${line}:${column}`
  }
  for (const [group, values] of Object.entries(tree.value)) {
    if (group === '$schema') continue
    if (problems.length >= MAX_TOLD) break
    const members = all.filter((one) => one.name.startsWith(`${group}.`))
    if (members.length === 0) problems.push(`${at([group])}: ${unknownGroup(group, all)}`)
    else if (!isRecord(values)) problems.push(`${at([group])}: ${group}: is not an object with settings`)
    else {
      for (const [key, value] of Object.entries(values)) {
        if (problems.length >= MAX_TOLD) break
        const known = members.find((one) => one.name === `${group}.${key}`)
        const reason = known ? refused(value, known, context) : unknownKey(key, group, all)
        const place = `${at([group, key])}: ${visibleName(`${group}.${key}`)}`
        if (reason !== undefined) problems.push(`${place}: ${reason}`)
        else given.set(known!.variable, { value, place })
      }
    }
  }
  return { values: given, problems, warnings: [] }
}

const invalid = (problems: string[]): FileSettings => ({ values: new Map(), problems, warnings: [] })

function refused(value: unknown, one: NamedSetting, context: SettingContext): string | undefined {
  const { variable, onlyVariable } = one
  if (onlyVariable !== undefined) return `is set by ${variable} only: ${onlyVariable}`
  if (value === '' || (Array.isArray(value) && value.length === 0)) return 'is empty: remove it to have the default'
  if (parse(one, value, context) !== undefined) return undefined
  return notAllowed({ ...one, secret: one.secret === true || isMisplaced(value, one, context) }, value)
}

/** A long text where a number or a choice belongs may be a secret in the wrong place. */
function isMisplaced(value: unknown, one: NamedSetting, context: SettingContext): boolean {
  const { type, enum: choices } = z.toJSONSchema(one.type(context), { io: 'input' })
  return !((type === 'string' && !choices) || type === 'array') && JSON.stringify(value).length > MAX_PLAIN
}

function unknownGroup(name: string, all: readonly NamedSetting[]): string {
  const meant = settingNamed(name, all) ?? all.find((one) => keyOf(one) === name)
  if (meant) return `${visibleName(name)} is written as "${groupOf(meant)}": {"${keyOf(meant)}": …}`
  if (name === 'mcpServers') return 'mcpServers: servers belong into another file of this folder'
  return `${visibleName(name)} is not a group of settings.${suggested(name, new Set(all.map(groupOf)))}`
}

function unknownKey(key: string, group: string, all: readonly NamedSetting[]): string {
  const names = all.filter((one) => groupOf(one) === group).map(keyOf)
  const here = nearestName(key, names)
  const elsewhere = settingNamed(key, all) ?? all.find((one) => keyOf(one) === key)
  if (elsewhere && here === undefined) return `is not a setting. It is ${elsewhere.name}.`
  const near = here ?? all.find((one) => nearestName(key, [keyOf(one)]))?.name
  return `is not a setting.${near === undefined ? '' : ` Did you mean ${near}?`}`
}

/** `output` of `output.tokens`. */
export const groupOf = ({ name }: NamedSetting): string => name.split('.')[0]!
/** `tokens` of `output.tokens`. */
export const keyOf = ({ name }: NamedSetting): string => name.split('.')[1]!

/** The setting of a name such as `output.tokens`, or of a variable. */
export function settingNamed(name: string, all: readonly NamedSetting[]): NamedSetting | undefined {
  return all.find((one) => one.name === name || one.variable === name)
}

/** ` Did you mean …?` or an empty text. */
function suggested(name: string, known: Iterable<string>): string {
  const near = nearestName(name, known)
  return near === undefined ? '' : ` Did you mean ${near}?`
}
