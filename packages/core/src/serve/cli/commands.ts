// The command line with its only own command, `run`; features add theirs, mostly packages/terminal/src/package.ts.
import { VERSION } from '../../util/package-root.ts'
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
    .option('--tools <mode>', 'what the client lists: code, search or direct, as MCP_BRIDGE_TOOLS')
    .option('--http <address>', 'serve many clients over HTTP instead, at PORT or HOST:PORT')
    .option('--ui [port]', 'serve the web page as well; the link is written to stderr')
    .option('--tls-cert <file>', 'with --http: encrypt with this certificate (PEM); a renewed one is loaded')
    .option('--tls-key <file>', 'with --tls-cert: the private key (PEM)')
    .option(
      '--trusted-proxy <addresses...>',
      'with --http: believe X-Forwarded-* headers from these addresses or ranges',
    )
    .runs(async () => (await import('./serve/run.ts')).run)

  return program
}
