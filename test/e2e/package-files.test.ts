// @module-tag whole: it installs packages
// This file verifies the contents of the package: files that the README links to, and what a client waits for when it
// starts the bridge.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'
import { ROOT } from '@sandbridge/core/test/support/bridges/bridge-process.ts'
import { NPM } from '@sandbridge/core/test/support/machine/npm-command.ts'
import { newFolder } from '@sandbridge/core/test/support/machine/new-folder.ts'

it('every file that README.md links to is in the package', () => {
  // npm writes its cache for this, too, and the home folder may be read-only.
  const cache = newFolder()
  const [npm, ...words] = [...NPM, 'pack', '--cache', cache, '--dry-run', '--ignore-scripts', '--json'] as const
  const output = execFileSync(npm, words, { cwd: ROOT, encoding: 'utf8' })
  const [{ files }] = JSON.parse(output) as [{ files: { path: string }[] }]
  const links = readFileSync(path.join(ROOT, 'README.md'), 'utf8').matchAll(/\]\((?!https?:|#)([^)#]+)/g)
  const linked = Array.from(links, ([, link]) => link!)
  expect(linked).toContain('ARCHITECTURE.md')
  expect(linked.filter((link) => !files.some((file) => file.path === link))).toEqual([])
})

const STATIC = /(?<!=>)require\("\.\/([^"]+\.js)"\)/g
const ANY = /require\("\.\/([^"]+\.js)"\)/g

/** A file of dist/ and everything that it imports. */
function loadedWith(first: string, imports: RegExp): Map<string, string> {
  const loaded = new Map<string, string>()
  const waiting = [first]
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    if (loaded.has(name)) continue
    const text = readFileSync(path.join(ROOT, 'dist', name), 'utf8')
    loaded.set(name, text)
    waiting.push(...Array.from(text.matchAll(imports), ([, other]) => other!))
  }
  return loaded
}

it('the code that a client waits for has one validator of JSON Schemas, and that is not Ajv', () => {
  // Files of earlier builds may lie beside those of this one.
  const all = loadedWith('cli.js', ANY)
  const bridges = [...all.keys()].filter((name) => /^bridge-[\w-]{8}\.js$/.test(name))
  expect(bridges).not.toEqual([])
  const ajv = 'ajv/dist/runtime'
  for (const bridge of bridges) {
    const texts = [...loadedWith(bridge, STATIC).values()]
    expect(texts.filter((text) => text.includes('CfWorkerJsonSchemaValidator'))).toHaveLength(1)
    expect(texts.some((text) => text.includes(ajv))).toBe(false)
  }
  // The control: the client part of the package contains it, and is loaded with the first server that needs it.
  expect([...all.values()].some((text) => text.includes(ajv))).toBe(true)
})
