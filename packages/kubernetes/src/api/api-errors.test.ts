import { expect, it } from 'vitest'
import { ApiError, ApiUnreachable, clusterError } from './api-errors.ts'

const asked = { verb: 'create', resource: 'pods', namespace: 'team' } as const
const explained = (error: unknown) => {
  const { code, message, hint } = clusterError(error, 'prod', asked)
  return { code, text: `${message} ${hint}` }
}
const forbidden = (message: string) => new ApiError(403, { reason: 'Forbidden', message })

it.each([
  [
    'a missing right',
    forbidden('pods is forbidden: User "ann" cannot create resource "pods" in API group "" in the namespace "team"'),
    'SANDBOX_ENGINE_MISSING',
    /prod does not let the bridge create pods in namespace team.*Grant the verb 'create' on 'pods'/,
  ],
  [
    'a quota that is used up',
    forbidden('pods "x" is forbidden: exceeded quota: q, requested: pods=1, used: pods=5, limited: pods=5'),
    'SANDBOX_BUSY',
    /no quota left.*Retry when another sandbox has ended/,
  ],
  [
    'a quota that asks for what a pod does not say',
    forbidden('pods "x" is forbidden: failed quota: q: must specify limits.nvidia.com/gpu'),
    'SANDBOX_START_FAILED',
    /must specify.*Ask the administrator/,
  ],
  [
    'a webhook',
    forbidden('admission webhook "policy.example" denied the request: a pod cannot use this registry'),
    'SANDBOX_START_FAILED',
    /refused to create pods.*this registry/,
  ],
  [
    'Pod Security',
    forbidden('violates PodSecurity "restricted:latest"'),
    'SANDBOX_START_FAILED',
    /violates PodSecurity/,
  ],
  ['an expired sign-in', new ApiError(401, { message: 'Unauthorized' }), 'SANDBOX_ENGINE_MISSING', /Sign in again/],
  [
    'no namespace',
    new ApiError(404, { message: 'namespaces "team" not found' }),
    'SANDBOX_ENGINE_MISSING',
    /Create the/,
  ],
  ['too many requests', new ApiError(429, { message: 'slow down' }), 'SANDBOX_BUSY', /overloaded.*Retry later/],
  ['a server that fails', new ApiError(500, undefined), 'SANDBOX_START_FAILED', /failed with 500/],
  ['no server', new ApiUnreachable('connect ECONNREFUSED'), 'SANDBOX_ENGINE_MISSING', /ECONNREFUSED.*Retry later/],
])('the API error %s is recognised', (_what, error, code, words) => {
  expect(explained(error)).toEqual({ code, text: expect.stringMatching(words) })
})

it('the message of an API error is short and on one line', () => {
  const { text } = explained(new ApiError(400, { message: `first\u001b[31m\nsecond ${'x'.repeat(5000)}` }))
  expect(text.length).toBeLessThan(1000)
  expect(['\n', '\u001b'].filter((character) => text.includes(character))).toEqual([])
})
