import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { expect, it } from 'vitest'
import { CredentialSource } from './credentials.ts'
import { runExecPlugin } from './exec-plugin.ts'
import type { ClusterAccess, ExecPlugin } from './kubeconfig.ts'
import { newFolder } from '@sandbridge/core/test/support/machine/new-folder.ts'

const ACCESS: ClusterAccess = {
  name: 'test',
  server: new URL('https://cluster.example'),
  namespace: 'default',
  tlsServerName: undefined,
  skipTlsVerify: false,
  ca: { text: 'CA' },
  cert: undefined,
  key: undefined,
  token: undefined,
  exec: undefined,
}

/** A program that signs in: runs `body` of JavaScript, and counts its runs in a file. */
async function plugin(body: string, { args = [], ...more }: Partial<ExecPlugin> = {}) {
  const folder = newFolder()
  const program = path.join(folder, 'sign-in.cjs')
  const runs = path.join(folder, 'runs')
  await writeFile(program, `require('fs').appendFileSync(${JSON.stringify(runs)}, 'run\\n')\n${body}\n`)
  const exec: ExecPlugin = {
    apiVersion: 'client.authentication.k8s.io/v1',
    command: process.execPath,
    args: [program, ...args],
    env: {},
    installHint: undefined,
    provideClusterInfo: false,
    ...more,
  }
  const count = async () => (await readFile(runs, 'utf8')).split('\n').length - 1
  return { exec, count }
}

const credential = (status: object) => {
  const printed = { apiVersion: 'client.authentication.k8s.io/v1', kind: 'ExecCredential', status }
  return `console.log(JSON.stringify(${JSON.stringify(printed)}))`
}

it('a rotated token of the cluster is read again', async () => {
  const file = path.join(newFolder(), 'token')
  await writeFile(file, 'old\n')
  let now = 0
  const source = new CredentialSource({ ...ACCESS, token: { file } }, () => now)
  expect((await source.get()).token).toBe('old')
  await writeFile(file, 'new\n')
  expect((await source.get()).token).toBe('old')
  now += 10_000
  expect((await source.get()).token).toBe('new')
})

it('a token that the cluster has refused is read again at once', async () => {
  const file = path.join(newFolder(), 'token')
  await writeFile(file, 'old')
  const source = new CredentialSource({ ...ACCESS, token: { file } }, () => 0)
  await source.get()
  await writeFile(file, 'new')
  source.forget()
  expect((await source.get()).token).toBe('new')
})

it('an exec plugin runs once until its credential expires', async () => {
  const { exec, count } = await plugin(credential({ token: 'abc', expirationTimestamp: '2026-01-01T01:00:00Z' }))
  let now = Date.parse('2026-01-01T00:00:00Z')
  const source = new CredentialSource({ ...ACCESS, exec }, () => now)
  expect((await source.get()).token).toBe('abc')
  now += 58 * 60_000
  await source.get()
  expect(await count()).toBe(1)
  now += 2 * 60_000
  await source.get()
  expect(await count()).toBe(2)
})

it('an exec plugin gets the environment, arguments and cluster that it asks for', async () => {
  const body = `
    const { EXTRA, KUBERNETES_EXEC_INFO } = process.env
    const token = process.argv[2] + '-' + EXTRA
    const status = { token, clientCertificateData: 'C', clientKeyData: KUBERNETES_EXEC_INFO }
    console.log(JSON.stringify({ apiVersion: 'client.authentication.k8s.io/v1', status }))`
  const { exec } = await plugin(body, { args: ['first'], env: { EXTRA: 'more' }, provideClusterInfo: true })
  const { token, key } = await runExecPlugin(exec, ACCESS, 'CA')
  expect(token).toBe('first-more')
  expect(JSON.parse(key!)).toMatchObject({
    apiVersion: exec.apiVersion,
    spec: { interactive: false, cluster: { server: 'https://cluster.example' } },
  })
})

it.each([
  ['fails', 'console.error("sign in first"); process.exitCode = 3', /failed: sign in first\./],
  ['prints something else', 'console.log("SECRET")', /printed no ExecCredential/],
  ['prints a certificate alone', credential({ clientCertificateData: 'SECRET' }), /without its key/],
])('an error says that an exec plugin %s', async (_what, body, message) => {
  const { exec } = await plugin(body)
  const error: unknown = await runExecPlugin(exec, ACCESS, undefined).catch((thrown: unknown) => thrown)
  expect(error).toMatchObject({ code: 'SANDBOX_ENGINE_MISSING', message: expect.stringMatching(message) })
  expect(String(error)).not.toContain('SECRET')
})

it('an exec plugin that takes too long is ended, and a missing one is named', async () => {
  const { exec } = await plugin('setTimeout(() => {}, 600_000)')
  await expect(runExecPlugin(exec, ACCESS, undefined, 200)).rejects.toThrow(/no answer within 0.2 s/)
  await expect(
    runExecPlugin({ ...exec, command: '/nonexistent/x', installHint: 'Get it.' }, ACCESS, undefined),
  ).rejects.toMatchObject({ message: expect.stringContaining('is not installed'), hint: 'Get it.' })
})
