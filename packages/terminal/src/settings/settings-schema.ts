// The JSON Schema of settings.json, for editors; schema/settings.schema.json is generated from it.
import * as z from 'zod'
import { namedSettings, settingContext } from '@sandbridge/core/config/settings'

export function settingsJsonSchema(): object {
  const groups: Record<string, { description: string; properties: Record<string, object> }> = {}
  const context = settingContext({}, { home: '~' })
  for (const { name, variable, heading, meaning, defaultText, allowed, onlyVariable, type } of namedSettings()) {
    if (onlyVariable !== undefined) continue
    const [group = '', key = ''] = name.split('.')
    const description = `${meaning} Default: ${defaultText}. Allowed: ${allowed}. The variable ${variable} wins.`
    const { $schema: _, ...form } = z.toJSONSchema(type(context), { io: 'input', target: 'draft-07' })
    // The text of the variable is read as well.
    const types = form.type === undefined || form.type === 'string' ? form : { ...form, type: [form.type, 'string'] }
    const into = (groups[group] ??= { description: heading, properties: {} })
    if (!into.description.includes(heading)) into.description += `, ${heading}`
    into.properties[key] = { description, ...types }
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
