// The system's keychain, reached through the system's own program: `security` on macOS, `secret-tool` (libsecret) on Linux. It holds one secret of ours.
// The secret goes through pipes only: what stands in a command line can be read by every process of this user.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import path from 'node:path'

/** Its user may have to unlock it first. */
const TIME_LIMIT_MS = 15_000
const MAX_OUTPUT_CHARS = 64 * 1024
/** Exit code of `security` for an item that is not there. */
const SECURITY_NOT_FOUND = 44

export interface Keychain {
  /** Undefined when it holds no value. @throws Error when it cannot be asked; NoKeychainError without a keychain */
  get(): Promise<string | undefined>
  /** @param secret letters and digits. @throws as `get` */
  set(secret: string): Promise<void>
}

/** This machine has no such program: nothing to warn of. */
export class NoKeychainError extends Error {}

export interface SystemKeychainOptions {
  platform: NodeJS.Platform
  env: Record<string, string | undefined>
  /** The name under which the secret is kept. */
  service?: string
}

/** Undefined where no keychain can be reached: on Windows, and on Linux without a session bus. */
export function systemKeychain({ platform, env, service = 'sandbridge' }: SystemKeychainOptions): Keychain | undefined {
  const run = (program: string, args: string[], input = ''): Promise<Outcome> => runProgram(program, args, input, env)
  if (platform === 'darwin') {
    const item = ['-s', service, '-a', 'tokens']
    return {
      get: async () => {
        const outcome = await run('security', ['find-generic-password', ...item, '-w'])
        return outcome.code === SECURITY_NOT_FOUND ? undefined : succeeded('security', outcome)
      },
      set: async (secret) => {
        // With -i it reads commands from its input.
        const command = ['add-generic-password', '-U', ...item, '-w', secret].join(' ')
        succeeded('security', await run('security', ['-i'], `${command}\n`))
      },
    }
  }
  if (platform !== 'linux' || !hasSessionBus(env)) return undefined
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

function hasSessionBus(env: Record<string, string | undefined>): boolean {
  const { DBUS_SESSION_BUS_ADDRESS: address, XDG_RUNTIME_DIR: folder } = env
  return Boolean(address) || (folder !== undefined && existsSync(path.join(folder, 'bus')))
}

interface Outcome {
  /** Null when it was ended, for example because the keychain was not unlocked in time. */
  code: number | null
  output: string
  /** What it wrote to stderr. */
  said: string
}

/** What a program said may quote what it was given: only its exit code enters the error. */
function succeeded(program: string, { code, output }: Outcome): string {
  if (code === 0) return output.trim()
  throw new Error(code === null ? `${program} did not answer` : `${program} exited with code ${code}`)
}

function runProgram(program: string, args: string[], input: string, env: NodeJS.ProcessEnv): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { env, stdio: 'pipe', timeout: TIME_LIMIT_MS, killSignal: 'SIGKILL' })
    let output = ''
    let said = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => (output = (output + text).slice(0, MAX_OUTPUT_CHARS)))
    child.stderr.setEncoding('utf8').on('data', (text: string) => (said = (said + text).slice(0, MAX_OUTPUT_CHARS)))
    child.on('error', (error: NodeJS.ErrnoException) => {
      reject(error.code === 'ENOENT' ? new NoKeychainError(`${program} was not found`) : new Error(`${program} failed`))
    })
    child.on('close', (code) => resolve({ code, output, said }))
    // It may have ended before it read anything; then its exit code says so.
    child.stdin.on('error', () => {})
    child.stdin.end(input)
  })
}
