import { mkdirSync, symlinkSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'
import { needsLinks } from '../../test/support/suite/needs.ts'
import { readSettings } from './settings/settings.ts'
import { UserDefinitions } from './user-definitions.ts'
import { newFolder } from '../../test/support/machine/new-folder.ts'

it('a user whose .env is a broken symbolic link does not get the connections that others share', async () => {
  needsLinks()
  const home = newFolder()
  const folder = path.join(home, 'ann')
  mkdirSync(folder)
  const shared = { servers: [], untrusted: [], found: [], skipped: [], files: [] }
  const definitions = new UserDefinitions({
    settings: readSettings({}, { home }),
    context: { env: {}, cwd: home, home, ownPaths: [] },
    folder,
    shared: () => shared,
    ownPort: undefined,
  })
  await definitions.readAgain()
  expect(definitions.hasOwn).toBe(false)
  symlinkSync('gone.env', path.join(folder, '.env'))
  await definitions.readAgain()
  expect(definitions.hasOwn).toBe(true)
})
