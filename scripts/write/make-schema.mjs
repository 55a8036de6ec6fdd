// `npm run schema`: writes what follows from declarations in the code: the JSON Schemas of config files in schema/, the
// entries of settings in docs/configuration.md, and in Python the types of frames and the functions that only call a
// method. With --check it writes nothing, and its exit code is 1 where a file differs.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { plugIn } from '../../packages/core/src/serve/cli/package.ts'
import { serversJsonSchema } from '../../packages/core/src/config/entries/entry-schema.ts'
import { namedSettings } from '../../packages/core/src/config/settings/settings.ts'
import { PACKAGES } from '../../packages/sandbridge/src/packages.ts'
import { ownMethods } from '../../packages/core/src/calls/proxy.ts'
import { frameTypes } from './frame-texts.mjs'
import { runtimeFunctions } from './runtime-functions.mjs'
import { withSettings } from './settings-page.mjs'

plugIn(PACKAGES)
const made = {
  'schema/servers.schema.json': serversJsonSchema(),
  ...(await ofPackage('permissions', 'permissions', 'rules/file-schema.ts', 'permissionsJsonSchema')),
  ...(await ofPackage('settings', 'terminal', 'settings/settings-schema.ts', 'settingsJsonSchema')),
}
const read = (file) => readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8')
const isSame = (file, value) => {
  try {
    return JSON.stringify(JSON.parse(read(file))) === JSON.stringify(value)
  } catch {
    return false
  }
}
const texts = {
  'docs/configuration.md': (page) => withSettings(page, namedSettings()),
  'packages/core/python/sandbridge_kernel/wire/frame_types.py': frameTypes,
  'packages/core/python/sandbridge_kernel/api/bridge_functions.py': () => runtimeFunctions(ownMethods),
}
const changed = [
  ...Object.entries(made)
    .filter(([file, value]) => !isSame(file, value))
    .map(([file, value]) => [file, `${JSON.stringify(value, undefined, 2)}\n`]),
  ...Object.entries(texts)
    .map(([file, make]) => [file, make(read(file))])
    .filter(([file, text]) => text !== read(file)),
]
if (process.argv.includes('--check')) {
  for (const [file] of changed) process.stdout.write(`${file} differs from the code: run npm run schema\n`)
  process.exitCode = changed.length === 0 ? 0 : 1
} else for (const [file, text] of changed) writeFileSync(new URL(`../../${file}`, import.meta.url), text)

/** Nothing where the package is deleted. */
async function ofPackage(schema, name, file, make) {
  const folder = new URL(`../../packages/${name}/src/`, import.meta.url)
  return existsSync(folder) ? { [`schema/${schema}.schema.json`]: (await import(new URL(file, folder)))[make]() } : {}
}
