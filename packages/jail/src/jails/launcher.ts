// The launcher inside a jail with a filtered network: listens at the address in HTTP_PROXY, forwards every connection
// to the proxy's socket, and starts the server with its own stdin, stdout and stderr. It uses Node, which exists
// because the bridge runs on it. Pure.

const PORT = 3128

/**
 * CommonJS for `node -e`, because the jail may hide the bridge's files. Arguments: the socket, the command and its
 * arguments.
 */
const SOURCE = `
const net = require('node:net')
const { spawn } = require('node:child_process')
const { signals } = require('node:os').constants
const [socketPath, command, ...args] = process.argv.slice(1)
const forwarder = net.createServer({ allowHalfOpen: true }, (inner) => {
  const outer = net.connect({ path: socketPath, allowHalfOpen: true })
  const end = () => { inner.destroy(); outer.destroy() }
  inner.on('error', end).pipe(outer)
  outer.on('error', end).pipe(inner)
})
forwarder.listen(${PORT}, '127.0.0.1', () => {
  const child = spawn(command, args, { stdio: 'inherit' })
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  child.on('error', (error) => { process.stderr.write(command + ': ' + error.code + '\\n'); process.exit(127) })
  child.on('exit', (code, signal) => process.exit(code ?? 128 + signals[signal]))
})
`

/** A command that starts another one behind the forwarder. */
export function behindForwarder(node: string, socketPath: string, command: readonly string[]): string[] {
  return [node, '-e', SOURCE, '--', socketPath, ...command]
}

/**
 * Variables that direct programs to the forwarder.
 * @param hasLocal loopback goes through it, too, instead of staying in the jail
 */
export function proxyVariables(hasLocal: boolean): Record<string, string> {
  const forwarder = `127.0.0.1:${PORT}`
  const url = `http://${forwarder}`
  const names =
    'HTTP_PROXY HTTPS_PROXY ALL_PROXY http_proxy https_proxy all_proxy npm_config_proxy npm_config_https_proxy'
  // Not the forwarder itself: Node from 22.21 on would send what a program sends to its proxy through it once more.
  const none = hasLocal ? forwarder : 'localhost,127.0.0.1,::1'
  return {
    ...Object.fromEntries(names.split(' ').map((name) => [name, url])),
    NO_PROXY: none,
    no_proxy: none,
    NODE_USE_ENV_PROXY: '1',
  }
}
