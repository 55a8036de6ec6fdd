// Users of a shared bridge: their tokens, their clients, and the files in their folders.
import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { NamedTokens } from '../../src/access/named-tokens.ts'
import { fileStore } from '../../../core/src/util/stores/open-stores.ts'
import type { HttpBridge, HttpClient } from '@sandbridge/core/test/support/bridges/http-bridge.ts'

/** What `sandbridge token create` makes, without a process for each. */
export function tokenFor({ home }: HttpBridge, name: string): Promise<string> {
  return new NamedTokens(fileStore(path.join(home, 'MCPs/.sandbridge'))).create(name)
}

/** A client for each user, who gets a new token. */
export async function connectAs(bridge: HttpBridge, ...names: string[]): Promise<HttpClient[]> {
  const tokens = []
  for (const name of names) tokens.push(await tokenFor(bridge, name))
  return Promise.all(tokens.map((token) => bridge.connect('legacy', { token })))
}

/** Writes a file into a user's folder. */
export function give({ home }: HttpBridge, user: string, file: string, content: string | object): void {
  const folder = path.join(home, 'MCPs/users', user)
  mkdirSync(folder, { recursive: true })
  writeFileSync(path.join(folder, file), typeof content === 'string' ? content : JSON.stringify(content))
}
