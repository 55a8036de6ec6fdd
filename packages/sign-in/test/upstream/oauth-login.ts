// Signs in to a server like a user, for tests.
import { dirname, join } from 'node:path'
import { login } from '../../src/sign-in/login.ts'
import type { LoginOptions } from '../../../core/src/upstream/sign-in-part.ts'
import { createTokenStore } from '../../src/tokens/token-store.ts'
import { type Protected } from '@sandbridge/core/test/support/servers/protected-server.ts'
import { remote } from '@sandbridge/core/test/support/servers/remote-server.ts'
import { open } from '@sandbridge/core/test/upstream/support.ts'
import { fileStore } from '../../../core/src/util/stores/open-stores.ts'
import { newFolder } from '@sandbridge/core/test/support/machine/new-folder.ts'

export async function tokenFile(): Promise<string> {
  const folder = newFolder()
  return join(folder, 'state', 'tokens.json')
}

/** A user whose browser follows every redirect. */
export const browse = async (page: URL): Promise<void> => void (await fetch(page))

export function logIn(server: Protected, file: string, changes: Partial<LoginOptions> = {}) {
  return login({
    name: 'r',
    server: { type: 'http', url: server.url, headers: {} },
    store: createTokenStore(fileStore(dirname(file))),
    showPage: browse,
    clientInfo: { name: 'test', version: '1' },
    env: {},
    signal: new AbortController().signal,
    ...changes,
  })
}

export const bridge = (server: Pick<Protected, 'url'>, file: string) =>
  open([remote('r', server.url)], { tokenStore: createTokenStore(fileStore(dirname(file))) })

export const echo = (upstreams: ReturnType<typeof open>) => upstreams.callTool('r', 'echo', { text: 'hi' })
