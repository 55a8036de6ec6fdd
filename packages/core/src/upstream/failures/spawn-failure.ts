// Explains why a process could not be started, names its command, and says how to fix it.
import { BridgeError, messageOf } from '../../errors.ts'
import type { Circumstances } from './circumstances.ts'

const WORDS: Record<string, string> = {
  ENOENT: 'was not found',
  EACCES: 'may not be executed',
  EPERM: 'may not be executed',
}

const OTHER_WORDS: Record<string, string> = {
  ENOTDIR: 'its working directory does not exist',
  E2BIG: 'its arguments and environment variables are too long',
  EMFILE: 'this machine is out of file descriptors',
  ENFILE: 'this machine is out of file descriptors',
  EAGAIN: 'this machine is out of processes',
  ERR_INVALID_ARG_VALUE: 'its definition has a character that is not allowed in a command',
  ERR_INVALID_ARG_TYPE: 'its definition has a value that is not text',
}

/** How to install the programs that start most servers. */
const INSTALLERS: Record<string, string> = {
  uvx: 'Install uv: https://docs.astral.sh/uv',
  uv: 'Install uv: https://docs.astral.sh/uv',
  npx: 'Install Node.js: https://nodejs.org',
  node: 'Install Node.js: https://nodejs.org',
  bunx: 'Install Bun: https://bun.sh',
  docker: 'Install Docker: https://docs.docker.com/get-started',
  podman: 'Install Podman: https://podman.io',
  python: 'Install Python, or write python3',
  deno: 'Install Deno: https://deno.com',
}

/** Undefined when the process was started. Node's own message would quote the whole command line. */
export function spawnFailure(
  error: unknown,
  { server, program, cwd, file, redact }: Circumstances,
): BridgeError | undefined {
  const code = String((error as NodeJS.ErrnoException | undefined)?.code)
  const where = file === undefined ? 'its definition' : file
  const fail = (why: string, remedy: string): BridgeError =>
    new BridgeError('UPSTREAM_UNREACHABLE', `Server '${server}' could not be started: ${why}.`, {
      hint: `Ask the user to fix it: ${remedy}`,
      userHint: remedy,
    })
  const words = WORDS[code]
  if (words !== undefined) {
    const name = program ?? ''
    const remedy = code === 'ENOENT' && Object.hasOwn(INSTALLERS, name) ? `${INSTALLERS[name]}. Or correct` : 'Correct'
    const { searchPath } = error as { searchPath?: string }
    const searched = searchPath === undefined ? '' : `. PATH was ${redact(searchPath)}`
    return fail(`the command \`${name}\` ${words}`, `${remedy} the command in ${where}${searched}`)
  }
  if (code === 'ENOTDIR' && cwd !== undefined) {
    return fail(`${messageOf(error)}: ${cwd}`, `Create it, or correct \`cwd\` in ${where}`)
  }
  const other = OTHER_WORDS[code]
  return other === undefined ? undefined : fail(other, `Correct ${where}`)
}
