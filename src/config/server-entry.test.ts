import { describe, expect, it } from 'vitest'
import { toServerBody } from './server-entry.ts'

const url = 'https://s.example/mcp'
const plain = { type: 'http', url, headers: {} }
const client = { grant: 'client_credentials', clientId: 'a', clientSecret: '${SECRET}' }

describe('client credentials in an entry', () => {
  it('are taken with what belongs to them', () => {
    const oauth = { clientId: 'a', clientSecret: '${SECRET}', scope: 'read', issuer: 'https://auth.example' }
    expect(toServerBody({ url, oauth: { grant: 'client_credentials', ...oauth, more: 1 } })).toEqual({
      body: { transport: { ...plain, oauth } },
    })
  })

  it.each([[true], [{}], [{ clientId: 'a' }], [{ ...client, grant: 'authorization_code' }]])(
    'are not %j, which some clients keep there',
    (oauth) => {
      expect(toServerBody({ url, oauth })).toEqual({ body: { transport: plain } })
    },
  )

  it.each([
    [{ ...client, clientId: undefined }, 'has no oauth.clientId'],
    [{ ...client, clientSecret: ' ' }, 'has no oauth.clientSecret'],
    [{ ...client, clientSecret: 7 }, 'has a oauth.clientSecret that is not text'],
    [{ ...client, scope: ['a'] }, 'has a oauth.scope that is not text'],
  ])('%# say what is wrong with them', (oauth, reason) => {
    expect(toServerBody({ url, oauth })).toEqual({ reason })
  })
})
