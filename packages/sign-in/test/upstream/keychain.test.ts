// @module-tag whole: it waits for keychains
// This file verifies sign-ins and the system's keychain, with programs that imitate `security` and `secret-tool`: they
// keep the secret in a file and log their arguments. A real keychain is used where there is one.
import { execFileSync } from 'node:child_process'
import { chmodSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { createLog } from '../../../core/src/util/log.ts'
import { type Keychain, systemKeychain } from '../../src/tokens/keychain.ts'
import { login } from '../../src/sign-in/login.ts'
import { createTokenStore } from '../../src/tokens/token-store.ts'
import { mayHaveKeychain } from '../../../core/src/upstream/auth/sign-in-store.ts'
import type { Vault } from '@sandbridge/core/upstream/auth'
import { createVault } from '../../src/tokens/vault.ts'
import { protectedServer } from '@sandbridge/core/test/support/servers/protected-server.ts'
import { remote } from '@sandbridge/core/test/support/servers/remote-server.ts'
import { open, textOf } from '@sandbridge/core/test/upstream/support.ts'
import { fileStore } from '../../../core/src/util/stores/open-stores.ts'
import { needsPosix, skip } from '@sandbridge/core/test/support/suite/needs.ts'
import { newFolder } from '@sandbridge/core/test/support/machine/new-folder.ts'

/** Both programs in one, distinguished by name. Fails while a file `broken` exists. */
const PROGRAM = `#!${process.execPath}
const { appendFileSync, existsSync, readFileSync, writeFileSync } = require('node:fs')
const [program, folder] = [require('node:path').basename(process.argv[1]), __dirname]
const args = process.argv.slice(2)
const input = args[0] === '-i' || args[0] === 'store' ? readFileSync(0, 'utf8') : ''
appendFileSync(folder + '/calls', JSON.stringify([program, ...args]) + '\\n')
if (existsSync(folder + '/broken')) {
  console.error('Cannot autolaunch D-Bus without X11, was given ' + input)
  process.exit(program === 'security' ? 36 : 1)
}
const secret = folder + '/secret'
if (input) {
  writeFileSync(secret, program === 'security' ? /-w (\\S+)\\n$/.exec(input)[1] : input)
} else if (!existsSync(secret)) process.exit(program === 'security' ? 44 : 1)
else process.stdout.write(readFileSync(secret, 'utf8') + (program === 'security' ? '\\n' : ''))
`

const PLATFORMS = [
  ['darwin', 'security'],
  ['linux', 'secret-tool'],
] as const
const url = { name: 's', url: 'https://s.example/mcp' }

describe.each(PLATFORMS)('on %s', (platform, program) => {
  let folder: string
  let logged: string[]
  let file: string

  beforeEach(() => {
    needsPosix('no keychain is used on Windows')
    folder = newFolder()
    logged = []
    file = path.join(folder, 'tokens.json')
    writeFileSync(path.join(folder, program), PROGRAM)
    chmodSync(path.join(folder, program), 0o755)
    writeFileSync(path.join(folder, 'package.json'), '{"type":"commonjs"}')
  })

  const env = () => ({ PATH: folder, DBUS_SESSION_BUS_ADDRESS: 'unix:path=/nowhere' })
  const keychain = (): Keychain => systemKeychain({ platform, env: env() })
  const log = createLog('debug', (line) => void logged.push(line))
  const vault = (): Vault => createVault(keychain(), log)
  const store = () => createTokenStore(fileStore(path.dirname(file)), vault())
  const save = (text: string) =>
    store().update(url, (grants) => {
      grants.byIssuer['i'] = { tokens: { access_token: text } }
      grants.latest = 'i'
    })
  const saved = async () => (await store().read(url)).byIssuer['i']?.tokens?.access_token

  it('a sign-in is encrypted in the file with a key from the keychain, and every bridge can decrypt it', async () => {
    const server = await protectedServer()
    const { tokens } = await signIn(server.url)
    expect(await echo(server.url)).toBe('hi')
    const text = readFileSync(file, 'utf8')
    for (const token of tokens) expect(text).not.toContain(token)
    expect(Object.keys(Object.values(JSON.parse(text) as object)[0] as object)).toEqual(['sealed'])
  })

  async function signIn(serverUrl: string) {
    const signal = new AbortController().signal
    const server = { type: 'http' as const, url: serverUrl, headers: {} }
    const showPage = async (page: URL): Promise<void> => void (await fetch(page))
    const clientInfo = { name: 'test', version: '1' }
    await login({ name: 'r', server, store: store(), showPage, clientInfo, env: {}, signal })
    const { byIssuer, latest } = await store().read({ name: 'r', url: serverUrl })
    const { access_token: access, refresh_token: refresh } = byIssuer[latest!]!.tokens!
    return { tokens: [access, refresh!] }
  }

  async function echo(serverUrl: string): Promise<string> {
    const upstreams = open([remote('r', serverUrl)], { tokenStore: store() })
    return textOf(await upstreams.callTool('r', 'echo', { text: 'hi' }))
  }

  it('the keychain is used without a secret in a command line, or in the log', async () => {
    await save('my-token')
    expect(await saved()).toBe('my-token')
    const secret = readFileSync(path.join(folder, 'secret'), 'utf8')
    expect(secret).toMatch(/^[0-9a-f]{64}$/)
    const calls = readFileSync(path.join(folder, 'calls'), 'utf8')
    expect(calls).toContain(program)
    for (const text of [calls, logged.join('\n')]) {
      expect(text).not.toContain(secret)
      expect(text).not.toContain('my-token')
    }
  })

  it('a failing keychain is reported in the log once, and the file is used', async () => {
    writeFileSync(path.join(folder, 'broken'), '')
    const tokens = createTokenStore(fileStore(path.dirname(file)), vault())
    for (let i = 0; i < 3; i += 1) {
      await tokens.update(url, (grants) => (grants.byIssuer['i'] = { port: i }))
      expect((await tokens.read(url)).byIssuer['i']).toEqual({ port: i })
    }
    expect(logged.filter((line) => line.includes('keychain cannot be used'))).toHaveLength(1)
    expect(logged.join('\n')).not.toContain('was given')
    // It works again, and what was written meanwhile is still there.
    rmSync(path.join(folder, 'broken'))
    expect((await store().read(url)).byIssuer['i']).toEqual({ port: 2 })
  })

  it('a sign-in that cannot be decrypted counts as missing, and is kept', async () => {
    await save('my-token')
    writeFileSync(path.join(folder, 'broken'), '')
    expect(await saved()).toBeUndefined()
    rmSync(path.join(folder, 'broken'))
    expect(await saved()).toBe('my-token')
    // Another key, as after a new user account.
    const secret = readFileSync(path.join(folder, 'secret'), 'utf8')
    writeFileSync(path.join(folder, 'secret'), 'f'.repeat(64))
    expect(await saved()).toBeUndefined()
    await save('another')
    expect(await saved()).toBe('another')
    writeFileSync(path.join(folder, 'secret'), secret)
    expect(await saved()).toBe('my-token')
  })

  it('a sign-in cannot be decrypted as that of another server', async () => {
    await save('my-token')
    const other = createTokenStore(fileStore(path.dirname(file)), vault())
    await other.update({ name: 'evil', url: 'https://evil.example/mcp' }, () => {})
    const contents = JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>
    const [mine, evil] = Object.keys(contents) as [string, string]
    writeFileSync(file, JSON.stringify({ ...contents, [evil]: contents[mine] }))
    expect((await other.read({ name: 'evil', url: 'https://evil.example/mcp' })).byIssuer).toEqual({})
    expect(await saved()).toBe('my-token')
  })

  it('an unknown entry under our name in the keychain is left alone', async () => {
    writeFileSync(path.join(folder, 'secret'), 'a password')
    await save('my-token')
    expect(readFileSync(path.join(folder, 'secret'), 'utf8')).toBe('a password')
    expect(readFileSync(file, 'utf8')).toContain('my-token')
  })

  it('a missing keychain program causes no warning', async () => {
    rmSync(path.join(folder, program))
    await save('my-token')
    expect(await saved()).toBe('my-token')
    expect(logged.filter((line) => line.includes('warning'))).toEqual([])
  })
})

it('no keychain is used on Windows, or without a session bus', () => {
  expect(mayHaveKeychain('win32', {})).toBe(false)
  expect(mayHaveKeychain('linux', { XDG_RUNTIME_DIR: '/nowhere' })).toBe(false)
  expect(mayHaveKeychain('darwin', {})).toBe(true)
})

it('the real keychain of this machine keeps a secret', async () => {
  const service = `sandbridge-test-${process.pid}`
  const { platform, env } = process
  const keychain = mayHaveKeychain(platform, env) ? systemKeychain({ platform, env, service }) : undefined
  const before = keychain ? await keychain.get().catch((error: Error) => error) : new Error('no session bus')
  if (!keychain || before instanceof Error) {
    skip(`only on a machine with a keychain: ${(before as Error).message}`)
    return
  }
  onTestFinished(() => {
    if (process.platform === 'darwin') execFileSync('security', ['delete-generic-password', '-s', service])
    else execFileSync('secret-tool', ['clear', 'service', service])
  })
  expect(before).toBeUndefined()
  await keychain.set('a'.repeat(64))
  expect(await keychain.get()).toBe('a'.repeat(64))
})
