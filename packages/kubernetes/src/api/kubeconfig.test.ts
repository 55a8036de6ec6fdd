import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { expect, it } from 'vitest'
import { findCluster } from './kubeconfig.ts'
import { newFolder } from '@sandbridge/core/test/support/machine/new-folder.ts'

async function folderWith(files: Record<string, unknown>): Promise<string> {
  const folder = newFolder()
  for (const [name, content] of Object.entries(files)) {
    await mkdir(path.dirname(path.join(folder, name)), { recursive: true })
    await writeFile(path.join(folder, name), typeof content === 'string' ? content : JSON.stringify(content))
  }
  return folder
}

const cluster = (name: string, server: string, more = {}) => ({ name, cluster: { server, ...more } })
const context = (name: string, namespace?: string) => ({ name, context: { cluster: name, user: name, namespace } })

it('the files of KUBECONFIG are merged: the first that sets a field wins, and paths are relative to their file', async () => {
  const folder = await folderWith({
    'a/config': {
      'current-context': 'one',
      contexts: [context('one', 'team')],
      clusters: [cluster('one', 'https://one.example:6443', { 'certificate-authority': 'ca.pem' })],
    },
    'b/config': `
current-context: two
contexts: [{name: one, context: {cluster: two, user: two}}, {name: two, context: {cluster: two, user: two}}]
clusters: [{name: two, cluster: {server: "https://two.example"}}, {name: one, cluster: {server: "https://other.example"}}]
users: [{name: one, user: {tokenFile: token}}, {name: two, user: {token: secret}}]
`,
  })
  const files = ['a/config', 'missing', 'b/config'].map((file) => path.join(folder, file))
  const options = { env: { KUBECONFIG: files.join(path.delimiter) }, home: folder }
  expect(await findCluster(options)).toMatchObject({
    name: 'one',
    namespace: 'team',
    ca: { file: path.join(folder, 'a/ca.pem') },
    token: { file: path.join(folder, 'b/token') },
    server: new URL('https://one.example:6443'),
  })
  expect(await findCluster({ ...options, context: 'two', namespace: 'mine' })).toMatchObject({
    name: 'two',
    namespace: 'mine',
    token: { text: 'secret' },
    server: new URL('https://two.example'),
  })
})

it('~/.kube/config is used without KUBECONFIG, and its encoded fields are decoded', async () => {
  const base64 = (text: string) => Buffer.from(text).toString('base64')
  const folder = await folderWith({
    '.kube/config': {
      'current-context': 'home',
      contexts: [context('home')],
      clusters: [cluster('home', 'https://home.example', { 'certificate-authority-data': base64('CA') })],
      users: [{ name: 'home', user: { 'client-certificate-data': base64('CERT'), 'client-key-data': base64('KEY') } }],
    },
  })
  expect(await findCluster({ env: {}, home: folder })).toMatchObject({
    namespace: 'default',
    ca: { text: 'CA' },
    cert: { text: 'CERT' },
    key: { text: 'KEY' },
    skipTlsVerify: false,
  })
})

it('the service account of the pod is used where there is no kubeconfig', async () => {
  const serviceAccount = await folderWith({ token: 'abc', 'ca.crt': 'CA', namespace: 'bridges\n' })
  const env = { KUBERNETES_SERVICE_HOST: 'fd00::1', KUBERNETES_SERVICE_PORT: '443' }
  expect(await findCluster({ env, home: '/nonexistent', serviceAccount })).toMatchObject({
    server: new URL('https://[fd00::1]:443'),
    namespace: 'bridges',
    token: { file: path.join(serviceAccount, 'token') },
    ca: { file: path.join(serviceAccount, 'ca.crt') },
  })
  await expect(findCluster({ env: {}, home: '/nonexistent', serviceAccount })).rejects.toMatchObject({
    code: 'SANDBOX_ENGINE_MISSING',
  })
})

const config = (user: object, of = {}) => ({
  'current-context': 'x',
  contexts: [context('x')],
  clusters: [cluster('x', 'https://x.example', of)],
  users: [{ name: 'x', user }],
})

it.each([
  ['someone else', config({ token: 't', as: 'admin' }), /uses as, which the bridge does not support/],
  ['a proxy', config({}, { 'proxy-url': 'http://proxy' }), /uses proxy-url/],
  ['plain http', config({}, { server: 'http://x.example' }), /is not an https address/],
  ['an unknown exec version', config({ exec: { apiVersion: 'v9', command: 'x' } }), /uses v9/],
  [
    'a plugin that needs a terminal',
    config({ exec: exec({ interactiveMode: 'Always' }) }),
    /always asks in a terminal/,
  ],
  ['another context', { ...config({}), 'current-context': 'y' }, /there is no context 'y'/],
  ['a broken file', 'a: b: SECRET', /config is not a kubeconfig file/],
])('a kubeconfig is refused for %s, and never quoted', async (_what, content, message) => {
  const folder = await folderWith({ '.kube/config': content })
  const error: unknown = await findCluster({ env: {}, home: folder }).catch((thrown: unknown) => thrown)
  expect(error).toMatchObject({ code: 'CONFIG_INVALID', message: expect.stringMatching(message) })
  expect(String(error)).not.toContain('SECRET')
})

it('an exec plugin is found beside its kubeconfig, or by PATH', async () => {
  const folder = await folderWith({ '.kube/config': config({ exec: exec({ command: './sign-in' }) }) })
  expect((await findCluster({ env: {}, home: folder })).exec?.command).toBe(path.join(folder, '.kube/sign-in'))
})

function exec(more: object) {
  return { apiVersion: 'client.authentication.k8s.io/v1', command: 'sign-in', ...more }
}
