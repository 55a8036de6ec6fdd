import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { BUILT_CLI } from '@sandbridge/core/test/support/bridge-process.ts'

it('the entry is small, and loads what every version of Node has', () => {
  const text = readFileSync(BUILT_CLI, 'utf8')
  expect(text.length).toBeLessThan(20_000)
  const loaded = Array.from(text.matchAll(/require\("([^"]+)"\)/g), ([, name]) => name!)
  expect(loaded.toSorted()).toEqual(['./main.js', 'fs', 'module', 'os', 'path', 'url'])
})
