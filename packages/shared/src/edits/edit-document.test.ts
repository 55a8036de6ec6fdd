import { expect, it } from 'vitest'
import type { ConfigFormat } from '../../../core/src/config/formats/config-document.ts'
import { editDocument } from './edit-document.ts'

const VALUE = { command: 'npx', args: ['-y', 'x'] }

it.each<[ConfigFormat, string]>([
  ['yaml', '# mine\nextensions:\n  a:\n    command: x\n'],
  ['yaml', '# mine\nextensions: {}\nother: |\n  one\n  two\n'],
  ['yaml', '# mine\nextensions: { a: { command: x } }\n'],
  ['toml', '# mine\n[extensions.a]\ncommand = "x"\n\n[other]\ntext = "1"\n'],
  ['jsonc', '{\n  // mine\n  "extensions": {}\n}\n'],
])('%s keeps the ends of its lines when a server is added, replaced and removed: %j', async (format, text) => {
  const path = ['extensions', 'new']
  for (const end of ['\n', '\r\n']) {
    let edited = text.replaceAll('\n', end)
    for (const value of [VALUE, { ...VALUE, command: 'uvx' }, undefined]) {
      const result = await editDocument(edited, format, [value === undefined ? { path } : { path, value }])
      edited = 'text' in result ? result.text : result.reason
      expect(edited).toContain('mine')
      expect(edited.includes('new')).toBe(value !== undefined)
      expect([...new Set(edited.match(/\r?\n/g))]).toEqual([end])
    }
  }
})
