// Commands for the person at a terminal: cells, lists, permissions, settings, and Python at a prompt.
import type { Command } from '@sandbridge/core/serve/cli'
import type { Feature, Package } from '@sandbridge/core/serve/cli/package.ts'
import type { Terminal } from '@sandbridge/core/serve/cli/terminal'
import { lazyMethods } from '@sandbridge/core/calls/methods'
import { profiles } from '@sandbridge/core/parts'

const feature: Feature = {
  name: 'Terminal',
  commands: addCommands,
  methods: () =>
    lazyMethods(
      ['complete_argument'],
      async () => (await import('./completion/complete-argument.ts')).completionMethods,
    ),
  examples: {
    '': ['sandbridge exec -c "1 + 1"'],
    exec: [
      'sandbridge exec -c "print(runtime.capability_summary())"',
      'sandbridge exec report.py --servers github,files --images charts',
      'echo "2 ** 10" | sandbridge exec -',
    ],
    completion: [
      'eval "$(sandbridge completion bash)"',
      'eval "$(sandbridge completion zsh)"',
      'sandbridge completion fish > ~/.config/fish/completions/sandbridge.fish',
    ],
    servers: ['sandbridge servers', 'sandbridge servers --sources', 'sandbridge servers diff'],
    search: ['sandbridge search "create issue" "open ticket"', 'sandbridge search "read csv" --limit 3 --json'],
    tools: ['sandbridge tools github', 'sandbridge tools github create_issue'],
    artifacts: [
      'sandbridge artifacts',
      'sandbridge artifacts report.csv -o report.csv',
      'sandbridge artifacts --remove report.csv',
    ],
    saved: ['sandbridge saved', 'sandbridge saved open_issues', 'sandbridge saved --remove open_issues'],
    profile: ['sandbridge profile', 'sandbridge profile work github jira'],
    permissions: [
      'sandbridge permissions',
      `sandbridge permissions github__create_issue '{"owner": "acme"}'`,
      'sandbridge permissions --allow github__create_issue',
    ],
    trust: ['sandbridge trust', 'sandbridge trust --list'],
    approve: ['sandbridge approve', 'sandbridge approve 0123456789abcdef --answer yes'],
    sandboxes: ['sandbridge sandboxes', 'sandbridge sandboxes --remove 3f09a1b2'],
    image: ['sandbridge image build data'],
    'image build': ['sandbridge image build', 'sandbridge image build data'],
    config: [
      'sandbridge config',
      'sandbridge config output.tokens 8000',
      'sandbridge config http.token - < token.txt',
      'sandbridge config --check',
    ],
    shell: ['sandbridge shell', 'sandbridge shell --images charts'],
  },
}

export const terminal: Package = {
  features: [feature],
  parts: [profiles.at(() => import('./lists/profiles.ts'))],
}

function addCommands(program: Command, here: Terminal): void {
  const exec = program
    .command('exec')
    .description('run one cell from the terminal')
    .argument('[file]', 'a Python file; - reads standard input')
    .argument('[args...]', 'what the file reads as sys.argv; put -- before arguments that begin with -')
    .allowUnknownOption()
    .option('-c, --code <code>', 'the Python code')
    .option('-s, --servers <names>', 'only these servers, separated by commas')
    .option('-t, --timeout <seconds>', 'how long the cell may run')
    .option('--images <folder>', 'the folder for images and audio (default: the working folder)')
    .json('print the result as JSON')
  exec.runs(async () => (await import('./cells/exec.ts')).exec, here, exec)

  program
    .command('completion')
    .description('print a script that completes commands and options in a shell')
    .argument('<shell>', 'bash, zsh or fish')
    .action(async (shell: string) => (await import('./completion/completion.ts')).printCompletion(program, shell))

  program
    .command('servers')
    .description('list the configured MCP servers, or show one in full; starts no server')
    .argument('[name]', 'the server to show; or diff, where no server has that name: tools that have changed')
    .option('--log', 'print the stderr output of its last failure')
    .option('--accept', 'with diff: accept the tools as they are now')
    .option('--sources', 'show the file of each server, and why entries were skipped')
    .json('print JSON, without secrets')
    .runs(async () => (await import('./lists/servers.ts')).servers, here)

  program
    .command('search')
    .description('find tools by what they do')
    .argument('<query...>', 'what a tool should do, in a few words; several queries, each in quotes, find more')
    .option('-n, --limit <count>', 'how many results')
    .json()
    .runs(async () => (await import('./lists/search.ts')).search, here)

  program
    .command('tools')
    .description('list the tools of a server, or show one tool in full')
    .argument('<server>')
    .argument('[tool]', 'the name of a tool')
    .json()
    .runs(async () => (await import('./lists/tools.ts')).tools, here)

  program
    .command('artifacts')
    .description('list the files that cells saved, write one to standard output, or delete one')
    .argument('[name]', 'the artifact to write')
    .argument('[version]', 'a version number (default: the newest)')
    .option('-o, --output <file>', 'write it into this file')
    .instead('--remove <name>', 'delete all versions of one')
    .json('print JSON, every version')
    .runs(async () => (await import('./lists/artifacts.ts')).artifacts)

  program
    .command('saved')
    .description('list the functions that cells saved, print the source of one, or delete one')
    .argument('[name]', 'the function to print')
    .argument('[version]', 'a version number (default: the newest)')
    .instead('--remove <name>', 'delete all versions of one')
    .json()
    .runs(async () => (await import('./lists/saved.ts')).saved, here)

  program
    .command('profile')
    .description('list the named sets of servers, define or delete one')
    .argument('[name]', 'the profile to show, or to define; MCP_BRIDGE_PROFILE then chooses it')
    .argument('[servers...]', 'its servers from now on')
    .option('--direct <names...>', 'servers or SERVER__TOOL that clients list by themselves')
    .instead('--remove <name>', 'delete one; its servers stay')
    .json()
    .runs(async () => (await import('./lists/profile.ts')).profile)

  program
    .command('permissions')
    .description('list which calls are allowed and why, explain one, or allow a tool')
    .argument('[tool]', 'the tool of the call to explain: SERVER__TOOL')
    .argument('[arguments]', 'the arguments of the call, a JSON object')
    .instead('--allow <tools...>', 'allow tools permanently, as the answer "yes, this tool always" does')
    .instead('--distrust <server>', 'stop trusting the text of a server')
    .json()
    .runs(async () => (await import('./permissions/permissions.ts')).permissions)

  program
    .command('approve')
    .description('answer questions about calls, where the client cannot ask')
    .argument('[id]', 'only this question')
    .option('--answer <answer>', 'yes, yes-cell, yes-session, yes-always, no or stop')
    .json('list the open questions as JSON')
    .runs(async () => (await import('./permissions/approve.ts')).approve, here)

  program
    .command('trust')
    .description('allow the servers of the config files of this project')
    .option('-y, --yes', 'do not ask for confirmation')
    .option('--remove <file>', 'stop trusting a file')
    .option('--list', 'list the trusted files')
    .json('with --list: print JSON')
    .runs(async () => (await import('./permissions/trust.ts')).trust)

  program
    .command('sandboxes')
    .description('list the pods that outlive their bridge (MCP_BRIDGE_SESSION=durable), or end one')
    .option('--remove <id>', 'end one that no bridge is using')
    .json()
    .runs(async () => (await import('./sandboxes/sandboxes.ts')).sandboxes)

  program
    .command('image')
    .description('build container images for cells')
    .command('build')
    .argument('[variant]', 'slim; data for numpy, pandas, matplotlib and more; node for JavaScript cells', 'slim')
    .json('print the engine and the image as JSON, and the lines of the build on stderr')
    .runs(async () => (await import('./sandboxes/image.ts')).imageBuild)

  program
    .command('config')
    .description('list the settings and where each was set, change one, or check them')
    .argument('[name]', 'the setting to show or set, such as output.tokens; or the variable')
    .argument('[value]', 'written to settings.json, whose comments stay; - reads it from standard input')
    .instead('--remove <name>', 'remove one from settings.json')
    .instead('--check', 'check settings.json and the variables')
    .instead('--path', 'print the path of settings.json')
    .json('print JSON, without secrets')
    .runs(async () => (await import('./settings/config.ts')).config)

  program
    .command('shell')
    .description('run Python at a prompt, in one session')
    .option('--images <folder>', 'the folder for images and audio (default: the working folder)')
    .runs(async () => (await import('./shell/shell.ts')).shell, here)
}
