// Connections to one PostgreSQL database. Repeats work when the server restarts, so work must be idempotent: a second
// attempt writes the same, or detects what the first one wrote.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Client, Pool, PoolClient } from 'pg'
import { migrate } from './migrate.ts'
import { BridgeError } from '@sandbridge/core/errors.ts'

/** SQLSTATEs of a server that stops, starts or has no free connection, and of conflicts between two writers. */
const PASSING_STATE = /^(08...|57P0[1-3]|53300|25P03|40001|40P01)$/
/** Socket errors. A missing socket file means that the server is not running. */
const PASSING_CODE = /^(ECONNREFUSED|ECONNRESET|EPIPE|ENOENT|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|EAI_AGAIN)$/
/** The driver's own errors have no code. */
const PASSING_TEXT =
  /^(Connection terminated|timeout exceeded when trying to connect|Query read timeout|Client has encountered)/
/** A password that is wrong, or missing: the driver reports that in its own words. */
const PASSWORD_STATE = '28P01'
const PASSWORD_TEXT = /client password must be/
const MAX_REASON_CHARS = 300

/** How long to retry while the server is away. */
const AWAY_MS = 5_000
const FIRST_PAUSE_MS = 50
const LONGEST_PAUSE_MS = 1_000
const MAX_CONNECTIONS = 10
/** Also the longest wait for a connection from the pool. */
const CONNECT_TIMEOUT_MS = 10_000
/** A query that takes longer has lost its server. */
const QUERY_TIMEOUT_MS = 60_000
/** Releases the lock of a bridge whose machine has failed. */
const BEGIN = `BEGIN; SET LOCAL idle_in_transaction_session_timeout = '60s'`

/** A connection reserved for one piece of work. */
export type Connection = Pick<PoolClient, 'query'>

export class Database {
  readonly #config: { connectionString: string; [option: string]: unknown }
  readonly #secrets: readonly string[]
  /** The last transaction of each lock. */
  readonly #transactions = new Map<string, Promise<void>>()
  #pool: Promise<Pool> | undefined
  #isMigrated = false

  /** @param url as in the setting */
  constructor(url: string) {
    this.#config = {
      connectionString: url,
      application_name: 'sandbridge',
      max: MAX_CONNECTIONS,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      query_timeout: QUERY_TIMEOUT_MS,
      keepAlive: true,
      // So that a command exits when its work is done.
      allowExitOnIdle: true,
    }
    this.#secrets = passwordsIn(url)
  }

  /**
   * Runs work with a connection, and repeats it if the connection is lost.
   * @throws BridgeError STATE_UNWRITABLE if the server stays away, or refuses
   */
  run<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
    return this.#persistently(async () => {
      const client = await this.#connect()
      let isUsable = false
      try {
        const value = await work(client)
        isUsable = true
        return value
      } finally {
        // Discard a connection after a failure: it may be in the middle of a query.
        client.release(!isUsable)
      }
    })
  }

  /** Runs work in a transaction. Transactions with the same lock run one after the other. */
  transaction<T>(lock: string, work: (connection: Connection) => Promise<T>): Promise<T> {
    const before = this.#transactions.get(lock) ?? Promise.resolve()
    // Transactions of this process queue here: each that waits in the server occupies a connection.
    const made = before.then(() =>
      this.run(async (connection) => {
        await connection.query(BEGIN)
        await connection.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [lock])
        const value = await work(connection)
        await connection.query('COMMIT')
        return value
      }),
    )
    const settled = made.then(
      () => {},
      () => {},
    )
    this.#transactions.set(lock, settled)
    void settled.then(() => {
      if (this.#transactions.get(lock) === settled) this.#transactions.delete(lock)
    })
    return made
  }

  /**
   * Runs work that excludes other work with the same lock. The work may take long and use the database, and is never
   * repeated: if the server goes away meanwhile, the lock is lost.
   */
  async exclusively<T>(lock: string, work: () => Promise<T>): Promise<T> {
    const { Client: NewClient } = (await import('pg')).default
    // Not from the pool: with all its connections used for locks, none would be left for the work.
    const client = await this.#persistently(async () => {
      const one = new NewClient(this.#config)
      one.on('error', () => {})
      try {
        await one.connect().catch((error: unknown) => this.#refuse(error))
        await takeLock(one, lock)
        return one
      } catch (error) {
        await one.end().catch(() => {})
        throw error
      }
    })
    try {
      return await work()
    } finally {
      await client.end().catch(() => {})
    }
  }

  async close(): Promise<void> {
    await (await this.#pool?.catch(() => undefined))?.end()
  }

  #connections(): Promise<Pool> {
    this.#pool ??= import('pg').then(({ default: { Pool: NewPool } }) => {
      const pool = new NewPool(this.#config)
      // The pool replaces idle connections that are lost. If that fails, the next query reports it.
      pool.on('error', () => {})
      pool.on('connect', (client) => client.on('error', () => {}))
      return pool
    })
    return this.#pool
  }

  async #persistently<T>(work: () => Promise<T>): Promise<T> {
    const until = performance.now() + AWAY_MS
    for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(2 * pause, LONGEST_PAUSE_MS)) {
      try {
        if (!this.#isMigrated) await this.#migrate()
        return await work()
      } catch (error) {
        if (!isOfDriver(error)) throw error
        if (!isPassing(error) || performance.now() + pause > until) throw postgresError(error, this.#secrets)
      }
      await sleep(pause)
    }
  }

  #connect(): Promise<PoolClient> {
    const connecting = this.#connections().then((pool) => pool.connect())
    return connecting.catch((error: unknown) => this.#refuse(error))
  }

  /** Marks every connection error as the driver's, whatever its form. */
  #refuse(error: unknown): never {
    throw isPassing(error) ? error : postgresError(error, this.#secrets)
  }

  async #migrate(): Promise<void> {
    const client = await this.#connect()
    try {
      await migrate(client)
      this.#isMigrated = true
    } finally {
      client.release(!this.#isMigrated)
    }
  }
}

/** Polls for the lock: waiting in the server would exceed the query timeout. */
async function takeLock(client: Client, lock: string): Promise<void> {
  await client.query(`BEGIN; SET LOCAL idle_in_transaction_session_timeout = '5min'`)
  const question = 'SELECT pg_try_advisory_xact_lock(hashtextextended($1, 0)) AS taken'
  while (!(await client.query<{ taken: boolean }>(question, [lock])).rows[0]!.taken) await sleep(FIRST_PAUSE_MS)
}

/** Returns passwords both as written in the URL and decoded. */
function passwordsIn(url: string): string[] {
  const found = [/^\w+:\/\/[^/?#]*?:([^/?#]*)@/.exec(url)?.[1], /[?&]password=([^&#]*)/.exec(url)?.[1]]
  return found.flatMap((text) => (text ? [text, decoded(text)] : []))
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** True if a retry may succeed: the server may be restarting, or the network may return. */
function isPassing(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const code = codeOf(error)
  return code === undefined ? PASSING_TEXT.test(error.message) : PASSING_STATE.test(code) || PASSING_CODE.test(code)
}

/** True for errors of the driver or the server, false for the caller's own. */
function isOfDriver(error: unknown): boolean {
  return isPassing(error) || (error instanceof Error && 'severity' in error)
}

/** @param secrets texts that the message must not contain */
function postgresError(error: unknown, secrets: readonly string[]): BridgeError {
  if (BridgeError.isInstance(error)) return error
  const code = error instanceof Error ? codeOf(error) : undefined
  const what = isPassing(error) ? 'PostgreSQL cannot be reached' : 'PostgreSQL refused what the bridge wanted to do'
  let reason = error instanceof Error ? error.message : String(error)
  for (const secret of secrets) reason = reason.replaceAll(secret, '…')
  const text = [code, reason.replaceAll(/\s+/g, ' ').slice(0, MAX_REASON_CHARS)].filter(Boolean).join(': ')
  // Without the cause: the driver's errors contain the query's data.
  const isPassword = code === PASSWORD_STATE || PASSWORD_TEXT.test(reason)
  return new BridgeError('STATE_UNWRITABLE', `${what} (${text})`, {
    hint: isPassword
      ? 'Put the password in the URL of MCP_BRIDGE_STORAGE, in PGPASSWORD or in ~/.pgpass, and start the bridge again.'
      : 'Check the database of MCP_BRIDGE_STORAGE, then retry. A bridge that runs reconnects by itself.',
  })
}

function codeOf(error: Error): string | undefined {
  return 'code' in error && typeof error.code === 'string' ? error.code : undefined
}
