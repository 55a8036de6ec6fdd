import { expect, it } from 'vitest'
import type { Answer } from './fields.ts'
import { requestTokens } from './token-requests.ts'

const client = { client_id: 'my app', client_secret: 'a/b+c d&é' }

/** How the client authenticates in each request, at an authorization server that accepts one way. */
async function waysTo(accepted: string | undefined, authMethods?: string[]) {
  const ways: string[] = []
  const ask = (url: string, init: RequestInit = {}): Promise<Answer> => {
    const header = new Headers(init.headers).get('authorization')?.replace(/^Basic /, '')
    const form = new URLSearchParams(init.body as string)
    const way = header === undefined ? `form ${form.get('client_secret')}` : Buffer.from(header, 'base64').toString()
    ways.push(way)
    const fields = way === accepted ? { access_token: 't' } : { error: 'invalid_client' }
    return Promise.resolve({ url, status: way === accepted ? 200 : 401, fields })
  }
  const endpoint = { url: 'https://as.example/token', ...(authMethods && { authMethods }) }
  const outcome = await requestTokens(ask, endpoint, client, {}).then(
    ({ access_token }) => access_token,
    (error: Error) => error.message,
  )
  return { ways, outcome }
}

it('a secret in Basic authentication is form-encoded, and sent as it is where that is refused', async () => {
  const encoded = 'my+app:a%2Fb%2Bc+d%26%C3%A9'
  const raw = 'my app:a/b+c d&é'
  expect(await waysTo(encoded)).toEqual({ ways: [encoded], outcome: 't' })
  expect(await waysTo(raw, ['client_secret_basic'])).toEqual({ ways: [encoded, raw], outcome: 't' })
  expect(await waysTo('form a/b+c d&é')).toEqual({ ways: [encoded, raw, 'form a/b+c d&é'], outcome: 't' })
  const { ways, outcome } = await waysTo(undefined, ['client_secret_post'])
  expect(ways).toEqual(['form a/b+c d&é'])
  expect(outcome).toBe('as.example refused the token request: invalid_client')
})
