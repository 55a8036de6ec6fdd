import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'
import { isOffInFile } from './own-resident.ts'
import { newFolder } from '@sandbridge/core/test/support/machine/new-folder.ts'

it.each([
  ['{ "resident": { "mode": "off" } }', true],
  ['\uFEFF{\r\n  // No process.\r\n  "resident": { "mode": "off", },\r\n}\r\n', true],
  ['{ "resident": { "mode": "OFF " } }', true],
  [Buffer.from('\uFEFF{ "resident": { "mode": "off" } }', 'utf16le'), true],
  [Buffer.from('\uFEFF{ "resident": { "mode": "off" } }', 'utf16le').swap16(), true],
  [Buffer.from('\uFEFF{ "resident": { "mode": "on" } }', 'utf16le'), false],
  ['{ "resident": { "mode": "on" } }', false],
  ['{ "resident": { "idle": 60 } }', false],
  ['{ "resident": "off" }', false],
  ['{ "resident": { "mode": "off" }', false],
])('settings.json switches the resident off as its other settings are read: %s', async (text, isOff) => {
  const stateDir = newFolder()
  writeFileSync(path.join(stateDir, 'settings.json'), text)
  expect(await isOffInFile({ home: '/nowhere', env: { MCP_BRIDGE_STATE_DIR: stateDir } })).toBe(isOff)
  // A variable outranks the file.
  expect(
    await isOffInFile({ home: '/nowhere', env: { MCP_BRIDGE_STATE_DIR: stateDir, MCP_BRIDGE_RESIDENT: 'on' } }),
  ).toBe(false)
})
