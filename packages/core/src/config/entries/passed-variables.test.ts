import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, it, onTestFinished } from 'vitest'
import { NETWORK_VARIABLES, passedEnvironment } from './passed-variables.ts'

it.each(Object.entries(NETWORK_VARIABLES))('docs/configuration.md lists all %s that servers get', (kind, names) => {
  const page = readFileSync(fileURLToPath(new URL('../../../../../docs/configuration.md', import.meta.url)), 'utf8')
  const listed = new RegExp(`^- ${kind}:((?:.|\\n  )*)`, 'm').exec(page)?.[1] ?? ''
  expect([...listed.matchAll(/`([^`]+)`/g)].map(([, name]) => name)).toEqual(names)
})

it('servers get the variables of proxies and certificates, and none that is not listed', () => {
  const env = { HTTPS_PROXY: 'http://127.0.0.1:1', NODE_EXTRA_CA_CERTS: '/ca.pem', npm_config_registry: 'http://r' }
  expect(passedEnvironment({ ...env, GITHUB_TOKEN: 't', AWS_SECRET_ACCESS_KEY: 's' })).toEqual(env)
  expect(passedEnvironment({ http_proxy: '() { evil; }' })).toEqual({})
})

it('servers on Windows that run on Python are told to speak UTF-8, or what the machine says', async () => {
  const { platform } = process
  onTestFinished(() => void Object.defineProperty(process, 'platform', { value: platform }))
  Object.defineProperty(process, 'platform', { value: 'win32' })
  expect(passedEnvironment({})).toEqual({ PYTHONIOENCODING: 'utf-8' })
  // The list of variables is that of the system on which it is loaded.
  const onWindows = './passed-variables.ts?windows'
  const module = (await import(onWindows)) as { passedEnvironment: typeof passedEnvironment }
  const ofMachine = { PYTHONIOENCODING: 'utf-8:replace', PYTHONUTF8: '1' }
  expect(module.passedEnvironment({ ...ofMachine, HOME: 'x' })).toEqual(ofMachine)
})
