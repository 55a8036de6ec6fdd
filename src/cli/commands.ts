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
    .command('servers')
    .description('list the configured MCP servers, or show one in full; starts no server')
    .argument('[name]', 'the server to show; or diff, where no server has that name: tools that have changed')
    .option('--log', 'print the stderr output of its last failure')
    .option('--accept', 'with diff: accept the tools as they are now')
    .option('--sources', 'show the file of each server, and why entries were skipped')
    .json('print JSON, without secrets')
    .action(async (name: string | undefined, options: object) =>
      (await import('./servers/servers.ts')).servers(name, options, terminal),
    )

  program
    .command('search')
    .description('find tools by what they do')
    .argument('<wording...>', 'what a tool should do, in a few words; several wordings, each in quotes, find more')
    .option('-n, --limit <count>', 'how many results')
    .json()
    .action(async (wordings: string[], options: object) =>
      (await import('./servers/search.ts')).search(wordings, options, terminal),
    )

  program
    .command('tools')
    .description('list the tools of a server, or show one tool in full; also lists saved functions')
    .argument('<server>', 'the server; or saved, unless a server has that name')
    .argument('[tool]', 'the name of a tool')
    .json()
    .action(async (server: string, tool: string | undefined, options: object) =>
      (await import('./servers/tools.ts')).tools(server, tool, options, terminal),
    )

  program
    .command('artifacts')
    .description('list the files that cells saved, write one to standard output, or delete one')
    .argument('[name]', 'the artifact to write')
    .argument('[version]', 'a version number (default: the newest)')
    .instead('--remove <name>', 'delete all versions of one')
    .json('print JSON, every version')
    .action(async (name: string | undefined, version: string | undefined, options: object) =>
      (await import('./saved/artifacts.ts')).artifacts(name, version, options),
    )

  program
    .command('sandboxes')
    .description('list the pods that outlive their bridge (MCP_BRIDGE_SESSION=durable), or end one')
    .option('--remove <id>', 'end one that no bridge is using')
    .json()
    .action(async (options: object) => (await import('./sandboxes/sandboxes.ts')).sandboxes(options))

  program
    .command('saved')
    .description('list the functions that cells saved, print the source of one, or delete one')
    .argument('[name]', 'the function to print')
    .argument('[version]', 'a version number (default: the newest)')
    .instead('--remove <name>', 'delete all versions of one')
    .json()
    .action(async (name: string | undefined, version: string | undefined, options: object) =>
      (await import('./saved/saved.ts')).saved(name, version, options, terminal),
    )

  program
    .command('profile')
    .description('list the named sets of servers, define or delete one')
    .argument('[name]', 'the profile to show, or to define; MCP_BRIDGE_PROFILE then chooses it')
    .argument('[servers...]', 'its servers from now on')
    .instead('--remove <name>', 'delete one; its servers stay')
    .json()
    .action(async (name: string | undefined, servers: string[], options: object) =>
      (await import('./servers/profile.ts')).profile(name, servers, options),
    )

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
    .command('index')
    .description('list the tools of every server now, so that no cell has to wait for it')
    .argument('[names...]', 'only these servers')
    .json()
    .action(async (names: string[], options: object) =>
      (await import('./servers/index-servers.ts')).indexServers(names, options),
    )

  program
    .command('trust')
    .description('allow the servers of the config files of this project')
    .option('-y, --yes', 'do not ask for confirmation')
    .option('--remove <file>', 'stop trusting a file')
    .option('--list', 'list the trusted files')
    .json('with --list: print JSON')
    .action(async (options: object) => (await import('./servers/trust.ts')).trust(options))

  program
    .command('permissions')
    .description('list which calls are allowed and why, explain one, or allow a tool')
    .argument('[tool]', 'explain a call of this one: SERVER__TOOL')
    .argument('[arguments]', 'its arguments, a JSON object')
    .instead('--allow <tools...>', 'allow tools permanently that would ask, as the answer "yes, this tool always" does')
    .instead('--distrust <server>', 'take back the answer that trusts the text of a server')
    .json()
    .action(async (tool: string | undefined, args: string | undefined, options: object) =>
      (await import('./permissions/permissions.ts')).permissions(tool, args, options),
    )

  program
    .command('config')
    .description('list the settings and where each was set, change one, or check them')
    .argument('[name]', 'the setting to show or set, such as output.tokens; or the variable')
    .argument('[value]', 'written to settings.json, whose comments stay; - reads it from standard input')
    .instead('--remove <name>', 'remove one from settings.json')
    .instead('--check', 'check settings.json and the variables')
    .instead('--path', 'print the path of settings.json')
    .json('print JSON, without secrets')
    .action(async (name: string | undefined, value: string | undefined, options: object) =>
      (await import('./config/config.ts')).config(name, value, options),
    )

  program
    .command('approve')
    .description('answer questions about calls, where the client cannot ask')
    .argument('[id]', 'only this question')
    .option('--answer <answer>', 'yes, yes-cell, yes-session, yes-always, no or stop')
    .json('list the open questions as JSON')
    .action(async (id: string | undefined, options: object) =>
      (await import('./permissions/approve.ts')).approve(id, options, terminal),
    )

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

  program
    .command('completion')
    .description('print a script that completes commands and options in a shell')
    .argument('<shell>', 'bash, zsh or fish')
    .action(async (shell: string) => (await import('./completion.ts')).printCompletion(program, shell))
  return program
}
