#!/usr/bin/env node
// argv → command. Each command is a module of its own, loaded when it is asked for: `sandbridge` itself must answer a client at once.
import { Command, CommanderError } from 'commander'
import type { LogOptions } from './commands/log.ts'
import { examplesText } from './commands/examples.ts'
import { endWithoutReader } from './process/lost-reader.ts'
import { VERSION } from './version.ts'

endWithoutReader()

/** The exit code of a command that was called wrongly. */
const USAGE_ERROR = 2

const TOOLS_HELP = `
The functions that cells have kept, as with \`sandbridge saved\`:
  sandbridge tools saved [name]   list them, or print the source of one
  sandbridge tools export <file>  write all of them to a file
  sandbridge tools import <file>  add those of a file`

const program = new Command('sandbridge')
  .description('One MCP tool, run_python, whose sandboxed code calls the tools of all your MCP servers.')
  .version(VERSION)
  // Commands inherit these: one exit code, and one way to say what is wrong.
  .exitOverride()
  .configureOutput({ outputError: (text, write) => write(text.replace(/^error: /, 'sandbridge: ')) })
  .option('-v, --verbose', 'log what happens to stderr')
  .hook('preAction', () => {
    if (program.opts<{ verbose?: boolean }>().verbose) process.env['MCP_BRIDGE_LOG_LEVEL'] ||= 'info'
  })

program
  .command('run', { isDefault: true })
  .description('serve MCP over stdio; this is what a client starts')
  .option('--http <address>', 'serve many clients over HTTP instead, at PORT or HOST:PORT')
  .action(async (options: { http?: string }) => (await import('./commands/run.ts')).run(options))

program
  .command('exec')
  .description('run one cell from the terminal')
  .argument('[file]', 'a file of Python; - reads standard input')
  .option('-c, --code <code>', 'the Python itself')
  .option('-s, --servers <names>', 'only these servers, separated by commas')
  .option('-t, --timeout <seconds>', 'how long the cell may run')
  .option('--images <folder>', 'where to save images and sounds; the working folder when left out')
  .option('--json', 'print the result as JSON')
  .action(async (file: string | undefined, options: object) => (await import('./commands/exec.ts')).exec(file, options))

program
  .command('shell')
  .description('run Python at a prompt, one cell after the other in one session')
  .option('--images <folder>', 'where to save images and sounds; the working folder when left out')
  .action(async (options: object) => (await import('./commands/shell.ts')).shell(options))

program
  .command('servers')
  .description('list the MCP servers that are configured, or show all of one; starts none')
  .argument('[name]', 'the server to show')
  .option('--log', 'print what the server wrote when it last failed')
  .option('--sources', 'show which file each comes from, and what was skipped and why')
  .option('--json', 'print JSON, without secrets')
  .action(async (name: string | undefined, options: object) =>
    (await import('./commands/servers.ts')).servers(name, options),
  )

program
  .command('search')
  .description('find tools by what they do')
  .argument('<query>')
  .option('-n, --limit <count>', 'how many')
  .option('--json', 'print JSON')
  .action(async (query: string, options: object) => (await import('./commands/search.ts')).search(query, options))

program
  .command('tools')
  .description('list the tools of a server, or show one of them in full; or the functions that cells have kept')
  .argument('<server>', 'its name; or saved, export or import, where no server has that name')
  .argument('[tool]', 'the name of a tool')
  .option('--json', 'print JSON')
  .addHelpText('after', TOOLS_HELP)
  .action(async (server: string, tool: string | undefined, options: object) =>
    (await import('./commands/tools.ts')).tools(server, tool, options),
  )

const artifacts = program
  .command('artifacts')
  .description('list the files that cells have kept, show one, or delete one')
artifacts
  .command('list', { isDefault: true })
  .description('list them')
  .option('--json', 'print JSON, every version')
  .action(async (options: object) => (await import('./commands/artifacts.ts')).listArtifacts(options))
artifacts
  .command('show')
  .description('write the bytes of one to standard output')
  .argument('<name>')
  .argument('[version]', 'a number, when it is not the newest')
  .action(async (name: string, version: string | undefined) =>
    (await import('./commands/artifacts.ts')).showArtifact(name, version),
  )
artifacts
  .command('rm')
  .description('delete one with all its versions')
  .argument('<name>')
  .action(async (name: string) => (await import('./commands/artifacts.ts')).removeArtifact(name))

const saved = program
  .command('saved')
  .description('list the functions that cells have kept, show, delete or share them')
saved
  .command('list', { isDefault: true })
  .description('list them')
  .option('--json', 'print JSON')
  .action(async (options: object) => (await import('./commands/saved.ts')).listSaved(options))
saved
  .command('show')
  .description('print the source of one')
  .argument('<name>')
  .argument('[version]', 'a number, when it is not the newest')
  .option('--json', 'print JSON')
  .action(async (name: string, version: string | undefined, options: object) =>
    (await import('./commands/saved.ts')).showSaved(name, version, options),
  )
saved
  .command('rm')
  .description('delete one with all its versions')
  .argument('<name>')
  .action(async (name: string) => (await import('./commands/saved.ts')).removeSaved(name))
saved
  .command('export')
  .description('write them to a file that others can import')
  .argument('<file>')
  .argument('[names...]')
  .action(async (file: string, names: string[]) => (await import('./commands/saved.ts')).exportSaved(file, names))
saved
  .command('import')
  .description('add those of a file, after each was loaded in a sandbox')
  .argument('<file>')
  .action(async (file: string) => (await import('./commands/saved.ts')).importSaved(file))

program
  .command('index')
  .description('ask every server for its tools now, so that no cell waits for it')
  .argument('[names...]', 'only these servers')
  .option('--json', 'print JSON')
  .action(async (names: string[], options: object) =>
    (await import('./commands/index-servers.ts')).indexServers(names, options),
  )

program
  .command('trust')
  .description('allow the servers that the config files of this project define')
  .option('-y, --yes', 'without being asked')
  .option('--remove <file>', 'stop trusting a file')
  .option('--list', 'list the trusted files')
  .option('--json', 'with --list: print JSON')
  .action(async (options: object) => (await import('./commands/trust.ts')).trust(options))

program
  .command('login')
  .description('sign in to a remote server')
  .argument('<server>')
  .option('--no-browser', 'only print the address, and take the answer from the terminal')
  .option('--scope <scope>', 'ask for these permissions, too')
  .option('--json', 'print the outcome as JSON, and the address on stderr')
  .action(async (server: string, options: { browser: boolean; scope?: string; json?: boolean }) =>
    (await import('./commands/login.ts')).login(server, options),
  )

program
  .command('logout')
  .description('forget the sign-in to a remote server')
  .argument('<server>')
  .action(async (server: string) => (await import('./commands/login.ts')).logout(server))

program
  .command('init')
  .description('register sandbridge in the clients of this machine, after showing the change')
  .option('-y, --yes', 'without being asked')
  .option('--move', "move the clients' own servers to ~/MCPs, so that they stop costing context")
  .option('--client <name...>', 'only these clients')
  .option('--dry-run', 'show the changes and make none')
  .option('--undo', 'put everything back')
  .option('--json', 'print JSON; changes nothing without --yes')
  .action(async (options: object) => (await import('./commands/init.ts')).init(options))

program
  .command('log')
  .description('show what models did: runs, calls, questions, denials, sign-ins')
  .option('-f, --follow', 'go on with what happens from now on')
  .option('-n, --lines <count>', 'how many of the newest', '100')
  .option('--session <id>', 'only this session, by its id or the beginning of it')
  .option('--server <name>', 'only calls of this server')
  .option('--denied', 'only denied calls and declined questions')
  .option('--since <time>', 'only from then on: 90m, 2h, 3d, or a date')
  .option('--verify', 'show whether the record was changed')
  .option('--json', 'print the lines of the record as they are')
  .action(async (options: LogOptions) => (await import('./commands/log.ts')).log(options))

program
  .command('doctor')
  .description('show what can isolate Python on this machine, and whether a cell runs')
  .option('--json', 'print JSON')
  .action(async (options: object) => (await import('./commands/doctor.ts')).doctor(options))

program
  .command('image')
  .description('container images for cells')
  .command('build')
  .argument('[variant]', 'slim, or data for numpy, pandas, matplotlib and more', 'slim')
  .option('--json', 'print the engine and the image as JSON, and the lines of the build on stderr')
  .action(async (variant: string, options: object) =>
    (await import('./commands/image.ts')).imageBuild(variant, options),
  )

program
  .command('completion')
  .description('print a script that completes commands and options in a shell')
  .argument('<shell>', 'bash, zsh or fish')
  .action(async (shell: string) => (await import('./commands/completion.ts')).printCompletion(program, shell))

addExamples(program, [])

try {
  const [first, second] = process.argv.slice(2)
  const names = ['help', ...program.commands.map((command) => command.name())]
  if (first !== undefined && !first.startsWith('-') && !names.includes(first)) {
    // Commander would take it for an argument of `run`.
    const { unknownCommand } = await import('./commands/unknown-command.ts')
    throw unknownCommand(first, names)
  }
  const group = program.commands.find((command) => command.name() === first && command.commands.length > 0)
  const members = ['help', ...(group?.commands ?? []).map((command) => command.name())]
  if (group && second !== undefined && !second.startsWith('-') && !members.includes(second)) {
    const { unknownCommand } = await import('./commands/unknown-command.ts')
    throw unknownCommand(second, members, `${group.name()} `)
  }
  if (first === undefined && process.stdin.isTTY && process.stdout.isTTY) {
    const { welcome } = await import('./commands/welcome.ts')
    welcome()
  } else await program.parseAsync()
} catch (error) {
  // What is wrong with a command line has been said by then; help is no mistake.
  if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? 0 : USAGE_ERROR
  else {
    const { reportFailure } = await import('./commands/report-failure.ts')
    process.exitCode = reportFailure(error)
  }
}

function addExamples(command: Command, words: readonly string[]): void {
  command.addHelpText('after', () => examplesText(words.join(' ')))
  for (const sub of command.commands) addExamples(sub, [...words, sub.name()])
}
