// Users of a shared bridge: their tokens, their clients, and the files in their folders.
import { hash, randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import type { HttpBridge, HttpClient } from './http-bridge.ts'

/** What `sandbridge token create` makes, without a process for each. */
export function tokenFor({ home }: HttpBridge, name: string): string {
  const file = path.join(home, 'MCPs/.sandbridge/http-tokens.json')
  const known = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as object) : {}
  const token = `sandbridge_${randomBytes(32).toString('base64url')}`
  const made = { sha256: hash('sha256', token), created: new Date().toISOString() }
  mkdirSync(path.dirname(file), { recursive: true })
  // The bridge may read it now.
  writeFileSync(`${file}.new`, JSON.stringify({ ...known, [name]: made }), { mode: 0o600 })
  renameSync(`${file}.new`, file)
  return token
}

/** A client for each user, who gets a new token. */
export async function connectAs(bridge: HttpBridge, ...names: string[]): Promise<HttpClient[]> {
  const tokens = names.map((name) => tokenFor(bridge, name))
  return Promise.all(tokens.map((token) => bridge.connect('legacy', { token })))
}

/** Writes a file into a user's folder. */
export function give({ home }: HttpBridge, user: string, file: string, content: string | object): void {
  const folder = path.join(home, 'MCPs/users', user)
  mkdirSync(folder, { recursive: true })
  writeFileSync(path.join(folder, file), typeof content === 'string' ? content : JSON.stringify(content))
}
