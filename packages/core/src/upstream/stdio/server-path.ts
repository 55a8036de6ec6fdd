// The PATH of servers: behind the client's, what a client that the desktop has started lacks. That is the folder of the
// Node that runs this, what the user's shell adds, and where version managers keep the programs that they have chosen.
import { existsSync } from 'node:fs'
import { userInfo } from 'node:os'
import path from 'node:path'
import { passedEnvironment } from '../../config/entries/passed-variables.ts'
import type { StdioServer } from '../../config/entries/server-definition.ts'
import type { ClientContext } from '../../config/settings/client-context.ts'
import { withTimeout } from '../../util/async/wait.ts'
import { environmentOf, mergedEnvironment } from '../../util/process/environment.ts'
import { findPlaces, withUsualFolders } from '../../util/process/find-program.ts'
import { runCommand } from '../../util/process/run-command.ts'
import { orUndefined } from '../../util/or-undefined.ts'

/** Their folders with what starts the chosen version, and other folders of one user; `|` is a space. */
const OF_USER: Partial<Record<NodeJS.Platform, string>> = {
  win32:
    '%LOCALAPPDATA%/Volta/bin %LOCALAPPDATA%/mise/shims %LOCALAPPDATA%/nvs/default %NVM_SYMLINK% ' +
    '%APPDATA%/fnm/aliases/default %LOCALAPPDATA%/fnm/aliases/default %ProgramFiles%/nodejs %APPDATA%/npm ' +
    '%LOCALAPPDATA%/pnpm ~/scoop/shims %LOCALAPPDATA%/Microsoft/WinGet/Links %ProgramData%/chocolatey/bin',
  darwin: '~/Library/Application|Support/fnm/aliases/default/bin ~/Library/pnpm',
  linux: '~/.local/share/fnm/aliases/default/bin ~/.local/share/pnpm',
}
const OF_ANY_USER =
  '~/.volta/bin ~/.local/share/mise/shims ~/.asdf/shims ~/.nodenv/shims ~/.proto/shims ~/.nvm/current/bin ' +
  '~/.fnm/aliases/default/bin ~/.nvs/default/bin ~/n/bin ~/.npm-global/bin ~/.bun/bin ~/.deno/bin ~/.cargo/bin ' +
  '~/.pyenv/shims'

/** Of the system and of Homebrew. A PATH that has no others has seen no shell of the user. */
const SYSTEM =
  /^(?:\/usr(?:\/local)?|\/opt\/homebrew|\/snap|\/System\/Cryptexes\/App\/usr|\/Library\/Apple\/usr)?\/(?:s?bin|games)$/

/** How long a shell may take, and how long a server waits for it whose command is found without it. */
const SHELL_MS = 10_000
const FOUND_MS = 3000
/** When a shell is asked again for a command that was not found: it may have been installed since. */
const AGAIN_MS = 60_000

type Context = Pick<ClientContext, 'env' | 'home'>

/** The context in which a server starts. An entry that sets a PATH means that one. */
export async function withServerPath<T extends Context>({ command, env }: StdioServer, context: T): Promise<T> {
  if (environmentOf(env)['PATH'] !== undefined) return context
  return { ...context, env: mergedEnvironment([context.env, { PATH: await serverPath(command, context) }]) }
}

export async function serverPath(command: string, context: Context, platform = process.platform): Promise<string> {
  const own = environmentOf({ ...context.env }, platform)['PATH'] ?? ''
  const managers = foldersOfUser(context, platform)
  const withLogin = (login = ''): string =>
    withUsualFolders(own, [path.dirname(process.execPath), ...absolute(login), ...managers])
  const has = (searchPath: string): boolean => command.includes('/') || findPlaces(command, searchPath).size > 0
  const found = has(withLogin())
  if (platform === 'win32' || (found && !absolute(own).every((folder) => SYSTEM.test(folder)))) return withLogin()
  if (!found) return withLogin(await loginPath(context, (login) => has(withLogin(login))))
  return withLogin(await withTimeout(loginPath(context), FOUND_MS, () => undefined))
}

function foldersOfUser({ env, home }: Context, platform: NodeJS.Platform): string[] {
  const variables = environmentOf({ ...env }, platform)
  const all = `${OF_USER[platform] ?? ''} ${platform === 'win32' ? '' : OF_ANY_USER}`.split(' ').map((folder) =>
    folder
      .replace('~', () => home)
      .replace(/%(.*)%/, (_, name: string) => variables[name] ?? '')
      .replace('|', ' '),
  )
  return all.filter((folder) => path.isAbsolute(folder) && existsSync(folder))
}

const absolute = (searchPath: string): string[] =>
  searchPath.split(path.delimiter).filter((one) => path.isAbsolute(one))

/** Answers by the shell and the home folder. */
const asked = new Map<string, { at: number; answer: Promise<string | undefined> }>()

/** The PATH of a terminal of the user. A shell is asked once, and again if its answer was not enough. */
async function loginPath(
  { env, home }: Context,
  isEnough: (login?: string) => boolean = () => true,
): Promise<string | undefined> {
  // The user may have no entry in the list of users, as in many containers.
  const shell = env['SHELL']?.startsWith('/') ? env['SHELL'] : orUndefined(() => userInfo().shell)
  if (!shell) return undefined
  const last = asked.get(`${shell} ${home}`)
  if (last && (isEnough(await last.answer) || performance.now() - last.at < AGAIN_MS)) return last.answer
  const answer = askShell(shell, { ...passedEnvironment(env), HOME: home })
  asked.set(`${shell} ${home}`, { at: performance.now(), answer })
  return answer
}

const MARK = 'sandbridge-path:'

/** Its files may print and ask: they read the end of the file, and have no terminal. */
async function askShell(shell: string, env: Record<string, string>): Promise<string | undefined> {
  const options = shell.endsWith('pwsh') ? ['-l', '-c'] : shell.endsWith('csh') ? ['-ic'] : ['-l', '-i', '-c']
  const { stdout } = await runCommand(shell, [...options, `/usr/bin/env sh -c 'echo ${MARK}$PATH'`], {
    timeoutMs: SHELL_MS,
    // What frameworks of zsh would ask, and start in place of a shell.
    env: {
      ...env,
      TERM: 'dumb',
      DISABLE_AUTO_UPDATE: 'true',
      ZSH_TMUX_AUTOSTART: 'false',
      ZSH_TMUX_AUTOSTARTED: 'true',
    },
  })
  return stdout
    .split('\n')
    .findLast((line) => line.includes(MARK))
    ?.split(MARK)
    .at(-1)
}
