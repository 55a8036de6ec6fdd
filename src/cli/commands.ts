// All commands but those of features. Each is a module that is loaded on use: a client must be answered quickly.
import { VERSION } from '../util/version.ts'
import { Command } from './command.ts'
import { OWN_TERMINAL, type Terminal } from './terminal/terminal.ts'

/** @param terminal of the commands that can run for another process */
export function createProgram(terminal: Terminal): Command {
  const program = new Command('sandbridge')
    .description('An MCP server with one tool, run_python. Its sandboxed code calls the tools of all your MCP servers.')
    .version(VERSION)
    // Commands inherit these: one exit code and one format for usage errors.
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void terminal.stdout.write(text),
      writeErr: (text) => void terminal.stderr.write(text),
      outputError: (text, write) => write(text.replace(/^error: /, 'sandbridge: ')),
    })
    .option('-v, --verbose', 'write log messages to stderr')
    .option('--json', 'print JSON, in place of text for people')
    .hook('preAction', (_, action) => {
      const { verbose, json } = program.opts<{ verbose?: boolean; json?: boolean }>()
      ;(action as Command).check({ json: json === true })
      if (verbose && terminal === OWN_TERMINAL) process.env['MCP_BRIDGE_LOG_LEVEL'] ||= 'info'
    })

  program
    .command('run', { isDefault: true })
    .description('serve MCP over stdio, for a client that starts it')
    .option('--http <address>', 'serve many clients over HTTP instead, at PORT or HOST:PORT')
    .option('--ui [port]', 'serve the page for the browser as well; its link is written to stderr')
    .option('--tls-cert <file>', 'with --http: encrypt with this certificate (PEM); a renewed one is loaded')
    .option('--tls-key <file>', 'its private key (PEM)')
    .option(
      '--trusted-proxy <addresses...>',
      'with --http: believe X-Forwarded-* headers from these addresses or ranges',
    )
    .action(async (options: object) => (await import('./serve/run.ts')).run(options))

  program
    .command('exec')
    .description('run one cell from the terminal')
    .argument('[file]', 'a Python file; - reads standard input')
    .option('-c, --code <code>', 'the Python code')
    .option('-s, --servers <names>', 'only these servers, separated by commas')
    .option('-t, --timeout <seconds>', 'how long the cell may run')
    .option('--images <folder>', 'the folder for images and audio (default: the working folder)')
    .json('print the result as JSON')
    .action(async (file: string | undefined, options: object) =>
      (await import('./cells/exec.ts')).exec(file, options, terminal),
    )

  program
    .command('ui')
    .description('show cells, calls, servers and search in the browser')
    .option('--port <port>', 'the port on 127.0.0.1 (default: any free one)')
    .json('print the link as JSON')
    .action(async (options: object) => (await import('./serve/ui.ts')).ui(options, terminal))

  program
    .command('sandboxes')
    .description('list the pods that outlive their bridge (MCP_BRIDGE_SESSION=durable), or end one')
    .option('--remove <id>', 'end one that no bridge is using')
    .json()
    .action(async (options: object) => (await import('./sandboxes/sandboxes.ts')).sandboxes(options))

  const token = program.command('token').description('list the named tokens for `run --http`, create or revoke one')
  token
    .command('list', { isDefault: true })
    .description('list them; the tokens themselves are not stored')
    .json()
    .action(async (options: object) => (await import('./serve/token.ts')).listTokens(options))
  token
    .command('create')
    .description('create one and print it, once')
    .argument('<name>', 'the user, as the record names them')
    .option('--expires <duration>', 'when it expires: 90m, 12h or 90d (default: never)')
    .action(async (name: string, options: object) => (await import('./serve/token.ts')).createToken(name, options))
  token
    .command('revoke')
    .description('delete one; a bridge that runs stops accepting it at once')
    .argument('<name>')
    .action(async (name: string) => (await import('./serve/token.ts')).revokeToken(name))

  program
    .command('trust')
    .description('allow the servers of the config files of this project')
    .option('-y, --yes', 'do not ask for confirmation')
    .option('--remove <file>', 'stop trusting a file')
    .option('--list', 'list the trusted files')
    .json('with --list: print JSON')
    .action(async (options: object) => (await import('./servers/trust.ts')).trust(options))

  program
    .command('login')
    .description('sign in to a remote server')
    .argument('<server>')
    .option('--no-browser', 'print the address, and read the answer from the terminal')
    .option('--scope <scope>', 'request these permissions, too')
    .option('--user <name>', 'sign in for this user of a bridge that serves many')
    .json('print the outcome as JSON, and the address on stderr')
    .action(async (server: string, options: { browser: boolean; scope?: string; json?: boolean; user?: string }) =>
      (await import('./servers/login.ts')).login(server, options),
    )

  program
    .command('logout')
    .description('sign out of a remote server')
    .argument('<server>')
    .option('--user <name>', 'sign out this user of a bridge that serves many')
    .action(async (server: string, options: { user?: string }) =>
      (await import('./servers/login.ts')).logout(server, options),
    )

  program
    .command('image')
    .description('build container images for cells')
    .command('build')
    .argument('[variant]', 'slim; data for numpy, pandas, matplotlib and more; node for JavaScript cells', 'slim')
    .json('print the engine and the image as JSON, and the lines of the build on stderr')
    .action(async (variant: string, options: object) =>
      (await import('./sandboxes/image.ts')).imageBuild(variant, options),
    )

  return program
}
