// A real PostgreSQL server in a temporary folder, on a port of this machine. With SANDBRIDGE_TEST_POSTGRES=1 it is
// required; otherwise tests are skipped when it is missing.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { accessSync, chownSync, constants, readdirSync, writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import path from 'node:path'
import { Client } from 'pg'
import { freePort } from '@sandbridge/core/test/support/machine/free-port.ts'
import { onPath } from '@sandbridge/core/test/support/suite/needs.ts'
import { newFolder } from '@sandbridge/core/test/support/machine/new-folder.ts'

/** Tests search for it in the bridge's log and responses. */
export const PASSWORD = 'correct-horse%40staple'

/** PostgreSQL refuses to run as root. */
const NOBODY = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {}
/** Debian installs the server's programs in a folder of their own, and the client's on the PATH. */
const DEBIAN = '/usr/lib/postgresql'

function programs(): string | undefined {
  const debian = (onPath('psql') === undefined ? [] : tryList(DEBIAN)).toSorted((a, b) => Number(b) - Number(a))
  const folders = [...(process.env['PATH'] ?? '').split(path.delimiter), ...debian.map((one) => `${DEBIAN}/${one}/bin`)]
  return folders.find((folder) => ['initdb', 'postgres'].every((name) => isProgram(path.join(folder, name))))
}

const PROGRAMS = programs()

/** Why tests of PostgreSQL cannot run; undefined when they can or must. */
export const NO_POSTGRES =
  PROGRAMS === undefined && !process.env['SANDBRIDGE_TEST_POSTGRES'] ? 'PostgreSQL is not installed' : undefined

export class TestPostgres {
  readonly #folder: string
  readonly #port: number
  #server: ChildProcess | undefined
  #databases = 0

  private constructor(folder: string, port: number) {
    this.#folder = folder
    this.#port = port
  }

  /** Takes two seconds. */
  static async start(): Promise<TestPostgres> {
    if (PROGRAMS === undefined) throw new Error('PostgreSQL must be there and is not: install the package postgresql')
    const folder = newFolder()
    const passwordFile = path.join(folder, 'password')
    writeFileSync(passwordFile, decodeURIComponent(PASSWORD))
    if (NOBODY.uid !== undefined) for (const one of [folder, passwordFile]) chownSync(one, NOBODY.uid, NOBODY.gid)
    const options = ['--username=owner', `--pwfile=${passwordFile}`, '--auth=scram-sha-256', '--no-sync', '-E', 'UTF8']
    execFileSync(path.join(PROGRAMS, 'initdb'), ['-D', path.join(folder, 'data'), '--locale=C', ...options], {
      ...NOBODY,
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    const postgres = new TestPostgres(folder, await freePort())
    await postgres.up()
    return postgres
  }

  /** Starts the server again after `down`. */
  async up(): Promise<void> {
    const options = [
      '-p',
      String(this.#port),
      '-c',
      'listen_addresses=127.0.0.1',
      '-k',
      this.#folder,
      '-c',
      'fsync=off',
    ]
    const server = spawn(path.join(PROGRAMS!, 'postgres'), ['-D', path.join(this.#folder, 'data'), ...options], {
      ...NOBODY,
      stdio: 'ignore',
    })
    this.#server = server
    while (!(await this.#answers())) {
      if (server.exitCode !== null) throw new Error(`PostgreSQL ended with code ${server.exitCode}`)
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }

  /** Kills the server like a crash: running transactions are lost, committed ones are not. */
  async down(): Promise<void> {
    const server = this.#server
    this.#server = undefined
    if (!server || server.exitCode !== null) return
    const ended = new Promise((resolve) => server.once('exit', resolve))
    server.kill('SIGQUIT')
    await ended
  }

  /** The URL of a new, empty database. */
  async database(): Promise<string> {
    this.#databases += 1
    const name = `test${this.#databases}`
    await this.query('postgres', `CREATE DATABASE ${name}`)
    return this.#url(name)
  }

  /** Queries a database, given by its name or URL. */
  async query<T extends object>(database: string, text: string, values: unknown[] = []): Promise<T[]> {
    const client = new Client(database.includes(':') ? database : this.#url(database))
    await client.connect()
    try {
      return (await client.query<T>(text, values)).rows
    } finally {
      await client.end()
    }
  }

  async remove(): Promise<void> {
    await this.down()
    await rm(this.#folder, { recursive: true, force: true, maxRetries: 5 })
  }

  #url(database: string): string {
    return `postgres://owner:${PASSWORD}@127.0.0.1:${this.#port}/${database}`
  }

  async #answers(): Promise<boolean> {
    return this.query('postgres', 'SELECT 1').then(
      () => true,
      () => false,
    )
  }
}

function tryList(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}
