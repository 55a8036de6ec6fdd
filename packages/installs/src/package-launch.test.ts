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
  ['cmd /c chcp 65001 >nul && npx -y some-server', 'npm', ['some-server']],
  ['cmd /c call npx -y some-server', 'npm', ['some-server']],
  ['cmd.exe /c start /b /wait npx -y some-server', 'npm', ['some-server']],
  ['conhost.exe --headless npx -y some-server', 'npm', ['some-server']],
  ['PowerShell -NoP -NonI -ep Bypass -c npx -y some-server', 'npm', ['some-server']],
  ['wsl.exe --cd ~ -u ann -- npx -y some-server', 'npm', ['some-server']],
  ['arch -arm64 /opt/homebrew/bin/npx -y some-server', 'npm', ['some-server']],
  ['caffeinate -i uvx some-server', 'uv', ['some-server']],
  ['volta run --node 22 npx -y some-server', 'npm', ['some-server']],
  ['fnm exec --using=22 npx -y some-server', 'npm', ['some-server']],
  ['mise exec node@22 -- npx -y some-server', 'npm', ['some-server']],
  ['sudo -E -u ann npx -y some-server', 'npm', ['some-server']],
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

it.each([
  ['cmd.exe', '/d', '/s', '/c', 'npx -y some-server'],
  ['cmd', '/c', 'chcp 65001>nul & "C:\\Program Files\\nodejs\\npx.cmd" -y some-server "a b"'],
  ['cmd', '/c', 'C:\\Program Files\\nodejs\\npx.cmd', '-y', 'some-server'],
  ['pwsh', '-NoProfile', '-Command', "& 'C:\\Program Files\\nodejs\\npx.ps1' -y some-server"],
  ['/bin/zsh', '-lic', 'exec npx -y some-server'],
  ['bash', '-l', '-c', 'source ~/.nvm/nvm.sh; npx -y some-server'],
])('a line in one word of a shell installs what it starts: %s %s %s %s', (command, ...args) => {
  expect(packageLaunch(command, args)).toEqual(launch('npx -y some-server'))
})

it.each([
  'node server.js',
  'npm start',
  'yarn serve',
  'docker run -i image',
  'uv --version',
  'python -m server',
  'nix x',
  'cmd /c echo npx && node server.js',
  'powershell -File C:\\servers\\start.ps1 npx some-server',
  'mise exec node@22 -- node server.js',
])('the command `%s` installs nothing', (line) => {
  expect(launch(line)).toBeUndefined()
})
