import type { Command } from '@sandbridge/core/serve/cli'
import type { Package } from '@sandbridge/core/serve/cli/package.ts'
import { http as httpPart } from '@sandbridge/core/parts'
import { HTTP_SETTINGS } from './settings.ts'

export const http: Package = {
  features: [
    {
      name: 'HTTP',
      settings: HTTP_SETTINGS,
      commands: addCommands,
      examples: {
        token: ['sandbridge token', 'sandbridge token create ann --expires 90d'],
        'token list': ['sandbridge token list --json'],
        'token create': ['sandbridge token create ann --expires 90d'],
        'token revoke': ['sandbridge token revoke ann'],
      },
    },
  ],
  parts: [httpPart.at(() => import('./part.ts'))],
}

function addCommands(program: Command): void {
  const token = program.command('token').description('list the named tokens for `run --http`, create or revoke one')
  token
    .command('list', { isDefault: true })
    .description('list them; the tokens themselves are not stored')
    .json()
    .runs(async () => (await import('./access/token-command.ts')).listTokens)
  token
    .command('create')
    .description('create one and print it, once')
    .argument('<name>', 'the user, as the audit log names them')
    .option('--expires <duration>', 'when it expires: 90m, 12h or 90d (default: never)')
    .runs(async () => (await import('./access/token-command.ts')).createToken)
  token
    .command('revoke')
    .description('delete one; a bridge that runs stops accepting it at once')
    .argument('<name>')
    .runs(async () => (await import('./access/token-command.ts')).revokeToken)
}
