// Signing in to remote servers, and out.
import { oauth, signIns } from '@sandbridge/core/parts'
import type { Command } from '@sandbridge/core/serve/cli'
import type { Feature, Package } from '@sandbridge/core/serve/cli/package.ts'

const feature: Feature = {
  name: 'Access',
  commands: addCommands,
  examples: {
    login: ['sandbridge login linear', 'sandbridge login linear --no-browser'],
    logout: ['sandbridge logout linear', 'sandbridge logout --all'],
  },
}

export const signIn: Package = {
  features: [feature],
  parts: [oauth.at(() => import('./oauth/part.ts')), signIns.at(() => import('./tokens/part.ts'))],
}

function addCommands(program: Command): void {
  program
    .command('login')
    .description('sign in to a remote server')
    .argument('<server>')
    .option('--no-browser', 'print the address, and read the answer from the terminal')
    .option('--scope <scope>', 'request these permissions, too')
    .option('--new', 'register anew, and sign in although there is a sign-in')
    .option('--user <name>', 'sign in for this user of a bridge that serves many')
    .json('print the outcome as JSON, and the address on stderr')
    .runs(async () => (await import('./access/login.ts')).login)

  program
    .command('logout')
    .description('sign out of a remote server, and revoke its tokens if the server allows that')
    .argument('[server]', 'its name or address, also of an entry that is gone')
    .option('--all', 'sign out of all servers')
    .option('--user <name>', 'sign out this user of a bridge that serves many')
    .runs(async () => (await import('./access/logout.ts')).logout)
}
