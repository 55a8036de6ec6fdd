// Runs pip on this machine: that of a Python, or one that uv provides. Its own configuration chooses the index.
import { passedEnvironment } from '@sandbridge/core/config/entries'
import { mapFew } from '@sandbridge/core/util/async'
import { findPrograms, runCommand } from '@sandbridge/core/util/process'
import { lastLine } from '@sandbridge/core/util/text'
import { InstallError, isNetworkFailure } from './missing-packages.ts'
import { PIP_PROGRAM } from './pip-program.ts'

const INSTALL_TIMEOUT_MS = 15 * 60_000
const LOOK_TIMEOUT_MS = 60_000

/** On Windows, `py` starts the newest one, and `python` may only offer to install one. */
const PYTHONS = process.platform === 'win32' ? ['py', 'python'] : ['python3']

/** Wheels only: building from source would run the package's own code on this machine. */
const OPTIONS = ['--only-binary', ':all:', '--no-input', '--disable-pip-version-check', '--quiet']

/** What pip gets besides the variables that servers get: others could add packages, and options that undo ours. */
const OWN_VARIABLES =
  'NETRC PIP_CLIENT_CERT PIP_DEFAULT_TIMEOUT PIP_FIND_LINKS PIP_KEYRING_PROVIDER PIP_NO_INDEX PIP_RETRIES PIP_TIMEOUT XDG_CONFIG_HOME'

/** pip names only the first one that it does not find. */
const UNKNOWN = /\bERROR: No matching distribution found for /

interface Wanted {
  /** Paths of wheels. */
  files?: readonly string[]
  requirements: readonly string[]
  /** Options that say for which Python and platform. */
  target?: readonly string[]
}

/**
 * Runs `pip install` or `pip download`.
 * @param python the Python whose pip it is, and for which wheels are chosen unless `target` names another one
 * @throws InstallError with pip's reason, and with everything that it does not find
 */
export async function runPip(
  python: string | undefined,
  command: readonly string[],
  { files = [], requirements, target = [] }: Wanted,
): Promise<void> {
  const pip = await findPip(python)
  if (!pip) {
    throw new InstallError('this machine has neither pip nor uv, which install packages. Install one of them', '')
  }
  const [program, ...before] = pip
  const run = (args: readonly string[], timeoutMs: number): ReturnType<typeof runCommand> =>
    runCommand(program!, [...before, args[0]!, ...OPTIONS, ...target, ...args.slice(1)], {
      timeoutMs,
      env: pipEnvironment(),
    })
  const { code, stderr } = await run([...command, '--', ...files, ...requirements], INSTALL_TIMEOUT_MS)
  if (code === 0) return
  const said = (lastLine(stderr) ?? 'pip gave no reason').replace(/^ERROR: /, '')
  if (isNetworkFailure(stderr)) throw new InstallError(`the package index cannot be reached: ${said}`, stderr)
  if (requirements.length < 2 || !UNKNOWN.test(stderr)) throw new InstallError(said, stderr)
  // pip names only the first unknown package: look for the others in one go.
  const looked = await mapFew(requirements, async (one) => {
    const found = await run(['install', '--dry-run', '--no-deps', '--ignore-installed', '--', one], LOOK_TIMEOUT_MS)
    return found.stderr.split('\n').filter((line) => UNKNOWN.test(line))
  })
  throw new InstallError(said, [stderr, ...looked.flat()].join('\n'))
}

function pipEnvironment(): NodeJS.ProcessEnv {
  const own = OWN_VARIABLES.split(' ').filter((name) => process.env[name] !== undefined)
  return { ...passedEnvironment(process.env), ...Object.fromEntries(own.map((name) => [name, process.env[name]])) }
}

/** Commands of pips that ran, because each attempt at an installation asks for one. */
const found = new Map<string | undefined, string[]>()

/** Returns the command of a pip that runs; undefined if this machine has neither pip nor uv. */
async function findPip(wanted: string | undefined): Promise<string[] | undefined> {
  const known = found.get(wanted)
  if (known) return known
  const pythons = wanted === undefined ? PYTHONS.flatMap((name) => findPrograms(name)) : [wanted]
  const [uv] = findPrograms('uv')
  const program = ['-c', PIP_PROGRAM]
  const inUv = ['--from', 'pip', 'python', ...program]
  const candidates = [
    ...pythons.map((python) => [python, ...program]),
    ...(uv === undefined
      ? []
      : [[uv, 'tool', 'run', '--quiet', ...pythons.slice(0, 1).flatMap((python) => ['--python', python]), ...inUv]]),
  ]
  for (const [command, ...args] of candidates) {
    if ((await runCommand(command!, [...args, '--version'], { env: pipEnvironment() })).code !== 0) continue
    found.set(wanted, [command!, ...args])
    return [command!, ...args]
  }
  return undefined
}
