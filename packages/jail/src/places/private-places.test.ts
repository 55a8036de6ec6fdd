// This file verifies that jailed servers cannot read or change what MCP clients read.
import { expect, it } from 'vitest'
import { CLIENT_READERS } from '@sandbridge/clients/readers/client-readers.ts'
import { linux } from '@sandbridge/core/test/support/sandboxes/host-paths.ts'
import { OBEYED_IF_THERE, OBEYED_PLACES, SECRET_PLACES } from './private-places.ts'

/** Files of clients that lie in no closed place. */
function openFiles(scope: 'user' | 'project', folder: string, places: readonly string[]): string[] {
  const files = CLIENT_READERS.flatMap((reader) => reader.locations(linux))
  return files
    .filter((file) => file.scope === scope && !file.path.startsWith('/etc/'))
    .map(({ path }) => path)
    .filter((path) => !places.some((place) => `${path}/`.startsWith(`${folder}/${place}/`)))
}

it('what clients read in the home folder is hidden from jailed servers', () => {
  expect(openFiles('user', linux.home, SECRET_PLACES)).toEqual([])
  expect(openFiles('user', linux.home, ['.ssh'])).not.toEqual([])
})

it('what clients obey in a project cannot be written by jailed servers', () => {
  const places = [...OBEYED_PLACES, ...OBEYED_IF_THERE]
  // Old places that no client obeys any more.
  const old = ['claude_code_config.json', 'claude_desktop_config.json'].map((name) => `${linux.cwd}/${name}`)
  expect(openFiles('project', linux.cwd, places)).toEqual(old)
})
