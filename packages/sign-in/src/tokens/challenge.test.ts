import { expect, it } from 'vitest'
import { bearerChallenge, challengesIn } from './challenge.ts'

it.each<[string, [string, Record<string, string>][]]>([
  ['Bearer', [['bearer', {}]]],
  [
    'Negotiate, Bearer scope="a b"',
    [
      ['negotiate', {}],
      ['bearer', { scope: 'a b' }],
    ],
  ],
  [
    'Negotiate YIIB==, Basic realm="x"',
    [
      ['negotiate', {}],
      ['basic', { realm: 'x' }],
    ],
  ],
  [
    'Basic realm="a, Bearer scope=b", Bearer error=invalid_token',
    [
      ['basic', { realm: 'a, Bearer scope=b' }],
      ['bearer', { error: 'invalid_token' }],
    ],
  ],
  [
    'Bearer error_description="needs scope=admin", scope="read"',
    [['bearer', { error_description: 'needs scope=admin', scope: 'read' }]],
  ],
  ['bearer  realm = "a \\"b\\"" ,\tSCOPE\t=\tread', [['bearer', { realm: 'a "b"', scope: 'read' }]]],
  ['Bearer realm="open', [['bearer', { realm: 'open' }]]],
  ['Bearer scope="a", scope="b"', [['bearer', { scope: 'a' }]]],
  [' , ,Bearer a=1,,b=2', [['bearer', { a: '1', b: '2' }]]],
  [';Bearer a=1', [['bearer', { a: '1' }]]],
])('the challenges of %j are read', (header, expected) => {
  const found = challengesIn(header).map(({ scheme, parameters }) => [scheme, Object.fromEntries(parameters)])
  expect(found).toEqual(expected)
})

it.each<[string, object | undefined]>([
  ['Basic realm="x"', undefined],
  ['Basic realm="x", Bearer scope="a"', { scope: 'a' }],
  ['Bearer realm="x", Bearer error="Invalid_Token", scope=""', { error: 'invalid_token' }],
  ['DPoP resource_metadata="/meta"', { resourceMetadata: new URL('https://s.example/meta') }],
  ['Bearer resource_metadata="file:///etc/passwd"', {}],
])('what %j asks of a client with a token is found', (header, expected) => {
  const response = new Response(null, { status: 401, headers: { 'www-authenticate': header } })
  expect(bearerChallenge(response, 'https://s.example/mcp')).toEqual(expected)
})

it('a server cannot make the reading of a long challenge slow', () => {
  const header = `Bearer ${'a'.repeat(8_000)} ${'b '.repeat(4_000)}${'"'.repeat(100)}`
  expect(challengesIn(header)[0]!.scheme).toBe('bearer')
})
