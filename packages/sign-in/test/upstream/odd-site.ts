// A stand-in that is told how to answer, and a user with an entry for it.
import { dirname } from 'node:path'
import type { SignInClient } from '../../../core/src/config/entries/server-definition.ts'
import { fileStore } from '../../../core/src/util/stores/open-stores.ts'
import { createTokenStore } from '../../src/tokens/token-store.ts'
import { type Oddity, protectedServer, type Step } from '@sandbridge/core/test/support/servers/protected-server.ts'
import { open } from '@sandbridge/core/test/upstream/support.ts'
import { remote } from '@sandbridge/core/test/support/servers/remote-server.ts'
import { logIn, tokenFile } from './oauth-login.ts'

/** A server with oddities, and a user with an entry for it. */
export async function site(steps: Partial<Record<Step, Oddity>> = {}, signIn?: SignInClient, name = 'r') {
  const [server, file] = [await protectedServer(), await tokenFile()]
  server.twist.steps = steps
  const transport = { type: 'http' as const, url: server.url, headers: {}, ...(signIn && { signIn }) }
  const store = () => createTokenStore(fileStore(dirname(file)))
  const connect = (definitions = [{ ...remote(name, server.url), transport }]) =>
    open(definitions, { tokenStore: store() })
  return {
    server,
    file,
    store,
    connect,
    logIn: (changes = {}) => logIn(server, file, { server: transport, ...changes }),
  }
}

export const page = '<!DOCTYPE html><html><body>app</body></html>'
export const changed =
  (change: Record<string, unknown>): Oddity =>
  (usual) => ({ ...usual, ...change })
export const without =
  (...fields: string[]): Oddity =>
  (usual) =>
    Object.fromEntries(Object.entries(usual).filter(([name]) => !fields.includes(name)))
