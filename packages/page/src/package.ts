import type { Command } from '@sandbridge/core/serve/cli'
import type { Package } from '@sandbridge/core/serve/cli/package.ts'
import type { Terminal } from '@sandbridge/core/serve/cli/terminal'
import { page as pagePart } from '@sandbridge/core/parts'

export const page: Package = {
  features: [{ name: 'Page', commands: addCommands, examples: { ui: ['sandbridge ui', 'sandbridge ui --port 7717'] } }],
  parts: [pagePart.at(() => import('./part.ts'))],
}

function addCommands(program: Command, terminal: Terminal): void {
  program
    .command('ui')
    .description('show cells, calls, servers and search in the browser')
    .option('--port <port>', 'the port on 127.0.0.1 (default: any free one)')
    .json('print the link as JSON')
    .runs(async () => (await import('./ui.ts')).ui, terminal)
}
