import { expect, it } from 'vitest'
import { launchesBridge, reachesBridge } from './self-server.ts'

const OWN = ['/srv/bridge/dist/cli.js', 'C:\\Bridge\\dist\\cli.js']

function launches(words: string[]): boolean {
  const [command = '', ...args] = words
  return launchesBridge({ type: 'stdio', command, args, env: {} }, OWN)
}

it.each([
  'sandbridge',
  '/usr/local/bin/sandbridge run',
  'C:\\npm\\sandbridge.cmd',
  'npx sandbridge',
  'npx -y sandbridge@1.2.3 run',
  'npx --yes --prefer-offline sandbridge@latest',
  'npx -p sandbridge -c sandbridge',
  'npx --package=sandbridge@1 other',
  'C:\\nodejs\\npx.cmd -y sandbridge',
  'npm exec -- sandbridge',
  'pnpm dlx sandbridge',
  'bunx sandbridge',
  'bun x sandbridge',
  'node /srv/bridge/dist/cli.js run',
  'node --max-old-space-size=4096 /x/node_modules/sandbridge/dist/cli.js',
  'node --require ./x.js node_modules/sandbridge/dist/cli.js',
  'node /x/node_modules/sandbridge/packages/sandbridge/cli.cjs',
  'node /x/node_modules/.bin/sandbridge',
  'tsx /home/ann/sandbridge/src/cli.ts',
  'uvx mcp-server-code-execution-mode run',
  'uvx --from git+https://github.com/elusznik/mcp-server-code-execution-mode mcp-server-code-execution-mode run',
  'uvx --from git+https://github.com/elusznik/mcp-server-code-execution-mode.git@v1 anything',
  'uv run --directory /x mcp_server_code_execution_mode.py',
  'uv tool run mcp-server-code-execution-mode',
  'python3 /opt/mcp_server_code_execution_mode.py',
  'python3.12 -m mcp_server_code_execution_mode',
  'pipx run --spec mcp-server-code-execution-mode==1.0 x',
  'docker run -i --rm -e TOKEN -v /a:/b ghcr.io/someone/sandbridge:latest',
  'podman run --rm -i --network=none sandbridge@sha256:abc',
  'env A=1 B=2 npx sandbridge',
  'cmd /c npx -y sandbridge',
  'sudo npx sandbridge',
  '/usr/bin/node /usr/lib/node_modules/npm/bin/npx-cli.js -y sandbridge',
  'pnpm dlx /home/ann/sandbridge-0.3.0.tgz',
  '/usr/bin/yarn dlx -p sandbridge@file:/home/ann/sandbridge-0.3.0.tgz sandbridge',
  'NPX.CMD -y sandbridge',
  'Cmd.exe /c npx sandbridge',
  'CMD.EXE /D /S /C npx.cmd -y sandbridge',
  'cmd /C UVX.EXE mcp-server-code-execution-mode',
  'powershell -noprofile -command npx sandbridge',
  'C:\\nodejs\\Node.EXE c:/bridge/DIST/cli.js',
  'cmd /c chcp 65001 >nul && npx -y sandbridge',
  'cmd /c set A=b & sandbridge.cmd run',
  'powershell -ExecutionPolicy Bypass -File C:\\npm\\sandbridge.ps1',
  'wsl -d Ubuntu --cd ~ -u ann npx -y sandbridge',
  'arch -x86_64 npx -y sandbridge',
])('a command that starts this bridge is recognised: %s', (line) => {
  expect(launches(line.split(' '))).toBe(true)
})

it('a command that starts this bridge is recognised when it is a whole command line in one word', () => {
  expect(launches(['sh', '-c', 'npx -y sandbridge run'])).toBe(true)
  expect(launches(['bash', '-lc', 'exec npx sandbridge'])).toBe(true)
  expect(launches(['sh', '-c', 'cd /x && npx sandbridge'])).toBe(true)
  expect(launches(['npx -y sandbridge'])).toBe(true)
  expect(launches(['cmd', '/c', 'cd /d C:\\x & "C:\\Program Files\\nodejs\\npx.cmd" -y sandbridge'])).toBe(true)
  expect(launches(['pwsh', '-c', "& 'C:\\my tools\\sandbridge.ps1' run"])).toBe(true)
})

it.each([
  'npx -y @modelcontextprotocol/server-filesystem /home/ann/sandbridge',
  'npx -y @modelcontextprotocol/server-filesystem --root /home/ann/sandbridge',
  'npx sandbridge-tools',
  'npx my-sandbridge',
  'node /home/ann/sandbridge/tools/server.js',
  'uv --directory /home/ann/sandbridge run server.py',
  'docker run -i --rm -v /home/ann/sandbridge:/work mcp/filesystem /work',
  'docker run -i --rm --name sandbridge mcp/filesystem',
  'docker run -i -e sandbridge mcp/git',
  'mcp-git --repository sandbridge',
  'github-mcp sandbridge',
  'cmd /C npx sandbridge-tools',
  'cmd /c cd sandbridge && npx other',
  'powershell -File start.ps1 sandbridge',
  'node /srv/Bridge/dist/cli.js',
  'npx',
  '',
])('a command that starts something else is left alone: %s', (line) => {
  expect(launches(line.split(' '))).toBe(false)
})

it('a remote server is never taken for a local start of this bridge', () => {
  expect(launchesBridge({ type: 'http', url: 'https://sandbridge/sandbridge', headers: {} }, OWN)).toBe(false)
})

const reaches = (url: string) => reachesBridge({ type: 'http', url, headers: {} }, 8080)

it.each(['http://127.0.0.1:8080/mcp', 'http://localhost:8080/mcp', 'http://[::1]:8080/', 'http://127.0.1.1:8080/mcp'])(
  'an address that reaches this bridge is recognised: %s',
  (url) => expect(reaches(url)).toBe(true),
)

it.each([
  'http://127.0.0.1:8081/mcp',
  'http://127.0.0.1/mcp',
  'https://127.0.0.1:8080/mcp',
  'http://example.com:8080/mcp',
  'http://localhost.example.com:8080/mcp',
  'http://localhost:${env:PORT}/mcp',
])('an address that reaches something else is left alone: %s', (url) => expect(reaches(url)).toBe(false))

it('no address is left out when the bridge does not serve over HTTP', () => {
  expect(reachesBridge({ type: 'http', url: 'http://127.0.0.1:8080/mcp', headers: {} }, undefined)).toBe(false)
})
