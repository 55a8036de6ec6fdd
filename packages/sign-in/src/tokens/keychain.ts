// The system's keychain, through the system's own program: `security` on macOS, `secret-tool` (libsecret) on Linux. It
// holds one secret. The secret goes through pipes only: every process of this user can read command lines.
import { runCommand } from '@sandbridge/core/util/process'

/** The user may have to unlock the keychain first. */
const TIME_LIMIT_MS = 15_000
/** Exit code of `security` for a missing item. */
const SECURITY_NOT_FOUND = 44

export interface Keychain {
  /** Undefined when it holds no value. @throws Error when it cannot be read; NoKeychainError without a keychain */
  get(): Promise<string | undefined>
  /** @param secret letters and digits. @throws as `get` */
  set(secret: string): Promise<void>
}

/** This machine has no keychain program; no warning is needed. */
export class NoKeychainError extends Error {}

export interface SystemKeychainOptions {
  platform: NodeJS.Platform
  env: Record<string, string | undefined>
  service?: string
}

/** Of a machine that may have one: see `mayHaveKeychain`. */
export function systemKeychain({ platform, env, service = 'sandbridge' }: SystemKeychainOptions): Keychain {
  const run = (program: string, args: string[], input = ''): Promise<Outcome> => runProgram(program, args, input, env)
  if (platform === 'darwin') {
    const item = ['-s', service, '-a', 'tokens']
    return {
      get: async () => {
        const outcome = await run('security', ['find-generic-password', ...item, '-w'])
        return outcome.code === SECURITY_NOT_FOUND ? undefined : succeeded('security', outcome)
      },
      set: async (secret) => {
        // With -i it reads commands from stdin.
        const command = ['add-generic-password', '-U', ...item, '-w', secret].join(' ')
        succeeded('security', await run('security', ['-i'], `${command}\n`))
      },
    }
  }
  const attributes = ['service', service, 'account', 'tokens']
  return {
    get: async () => {
      const outcome = await run('secret-tool', ['lookup', ...attributes])
      const isMissing = outcome.code === 1 && outcome.said === ''
      return isMissing ? undefined : succeeded('secret-tool', outcome)
    },
    set: async (secret) => {
      succeeded('secret-tool', await run('secret-tool', ['store', '--label=Sandbridge', ...attributes], secret))
    },
  }
}

interface Outcome {
  /** Null when it was killed, for example because the keychain was not unlocked in time. */
  code: number | null
  output: string
  /** Its stderr. */
  said: string
}

/** A program's output may quote its input, so only its exit code enters the error. */
function succeeded(program: string, { code, output }: Outcome): string {
  if (code === 0) return output.trim()
  throw new Error(code === null ? `${program} did not answer` : `${program} exited with code ${code}`)
}

async function runProgram(program: string, args: string[], input: string, env: NodeJS.ProcessEnv): Promise<Outcome> {
  const options = { env, input: Buffer.from(input), timeoutMs: TIME_LIMIT_MS }
  const { code, stdout, stderr, missing } = await runCommand(program, args, options)
  if (missing) throw new NoKeychainError(`${program} was not found`)
  return { code, output: stdout, said: stderr }
}
