// This file verifies that the page of settings is complete.
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { namedSettings } from '../../packages/core/src/config/settings/settings.ts'
import { plugIn } from '../../packages/core/src/serve/cli/package.ts'
import { PACKAGES } from '@sandbridge/sandbridge/packages.ts'
import { entryText } from './settings-page.mjs'

it('docs/configuration.md has an entry for every setting under its heading, and no other', () => {
  plugIn(PACKAGES)
  const page = readFileSync(new URL('../../docs/configuration.md', import.meta.url), 'utf8')
  const [, ...sections] = page.slice(page.indexOf('\n## Settings\n')).split(/\n### /)
  const entries = sections.flatMap((section) => {
    const [heading] = section.split('\n', 1)
    const found = section.matchAll(/^- \*\*`MCP_[A-Z_]+(?:=\w+)?`\*\*[^]*?(?=\n- |\n\n|\n$)/gm)
    return Array.from(found, ([entry]) => `${heading} ${entry.replaceAll(/\s+/g, ' ')}`)
  })
  const expected = namedSettings().map((setting) => `${setting.heading} ${entryText(setting)}`)
  expect(entries.toSorted()).toEqual(expected.toSorted())
})
