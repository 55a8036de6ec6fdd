// The JSON Schema of settings.json, for completion and checks in editors. schema/settings.schema.json is generated from
// it.
import { idOf, type Setting } from '../setting-kinds.ts'
import { namedSettings } from '../settings.ts'

export function settingsJsonSchema(): object {
  const groups: Record<string, { description: string; properties: Record<string, object> }> = {}
  for (const { group, key, heading, setting } of namedSettings()) {
    if (setting.onlyVariable !== undefined) continue
    const into = (groups[group] ??= { description: heading, properties: {} })
    into.properties[key] = { description: describe(setting), ...setting.json }
  }
  const object = { type: 'object', additionalProperties: false }
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Settings of Sandbridge',
    ...object,
    properties: {
      $schema: { type: 'string' },
      ...Object.fromEntries(Object.entries(groups).map(([group, members]) => [group, { ...object, ...members }])),
    },
  }
}

function describe(setting: Setting<unknown>): string {
  const { meaning, defaultText, allowed } = setting
  return `${meaning} Default: ${defaultText}. Allowed: ${allowed}. The variable ${idOf(setting)} wins.`
}
