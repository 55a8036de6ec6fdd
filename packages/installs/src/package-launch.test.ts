import { expect, it } from 'vitest'
import { packageLaunch } from './package-launch.ts'

const launch = (line: string) => {
  const [command = '', ...args] = line.split(' ')
  return packageLaunch(command, args)
}

it.each([
  ['npx -y some-server /a/folder', 'npm', ['some-server']],
  ['npx -y @scope/server@1.2.3 --port 1', 'npm', ['@scope/server@1.2.3']],
  ['npx --package=tool -p other run-it', 'npm', ['tool', 'other']],
  ['C:\\nodejs\\npx.cmd -y some-server', 'npm', ['some-server']],
  ['cmd /c npx -y some-server', 'npm', ['some-server']],
  ['NPX.CMD -y some-server', 'npm', ['some-server']],
  ['C:/Tools/UVX.EXE some-server', 'uv', ['some-server']],
  ['Cmd.exe /C npx -y some-server', 'npm', ['some-server']],
  ['cmd /D /S /C NPX some-server', 'npm', ['some-server']],
  ['CMD /V:ON /c bunx some-server', 'bun', ['some-server']],
  ['env TOKEN=x npx -y some-server', 'npm', ['some-server']],
  ['npm exec -- some-server', 'npm', ['some-server']],
  ['pnpm dlx some-server', 'pnpm', ['some-server']],
  ['pnpx some-server', 'pnpm', ['some-server']],
  ['yarn dlx some-server', 'yarn', ['some-server']],
  ['bunx some-server', 'bun', ['some-server']],
  ['bun x some-server', 'bun', ['some-server']],
  ['uvx mcp-server-time --local-timezone UTC', 'uv', ['mcp-server-time']],
  ['uvx --from git+https://example.com/x serve', 'uv', ['git+https://example.com/x']],
  ['uv tool run mcp-server-time', 'uv', ['mcp-server-time']],
  ['uv run server.py', 'uv', ['server.py']],
  ['pipx run --spec a==1 a', 'pipx', ['a==1']],
])('the command `%s` installs with %s', (line, manager, packages) => {
  expect(launch(line)).toEqual({ manager, packages })
})

it('a whole command line in one word of a shell of Windows installs what it starts', () => {
  expect(packageLaunch('cmd.exe', ['/d', '/s', '/c', 'npx -y some-server'])).toEqual(launch('npx -y some-server'))
  expect(packageLaunch('pwsh', ['-NoProfile', '-Command', 'uvx some-server'])).toEqual(launch('uvx some-server'))
})

it.each([
  'node server.js',
  'npm start',
  'yarn serve',
  'docker run -i image',
  'uv --version',
  'python -m server',
  'nix x',
])('the command `%s` installs nothing', (line) => {
  expect(launch(line)).toBeUndefined()
})
