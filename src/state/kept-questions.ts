// Questions about calls whose client cannot ask: kept in a private folder until `sandbridge approve` answers them. An answer is for the bridge and the
// session that asked, in time, and once.
import { createHash, randomUUID } from 'node:crypto'
import { readdir, readFile, rm } from 'node:fs/promises'
import path from 'node:path'
import { isRunning } from '../process/is-running.ts'
import { makePrivateFolder } from '../storage/private-folder.ts'
import { replaceFile } from '../storage/replace-file.ts'
import { isRecord, parseJson } from '../text/json.ts'

/** A question as its file holds it. */
export interface KeptQuestion {
  id: string
  text: string
  /** Of the bridge that waits for the answer. */
  pid: number
  answer?: string
}

const MAX_KEPT = 50

export class KeptQuestions {
  readonly #folder: string
  readonly #timeoutMs: number
  /** When each question was asked, by a clock that cannot be set. */
  readonly #asked = new Map<string, number>()
  readonly #sessions = new WeakMap<object, string>()

  constructor(stateDir: string, timeoutMs: number) {
    this.#folder = questionsFolder(stateDir)
    this.#timeoutMs = timeoutMs
  }

  /** What a question of a session about exactly these calls is known by. */
  idOf(session: object, calls: string): string {
    const secret = this.#sessions.get(session) ?? randomUUID()
    this.#sessions.set(session, secret)
    return createHash('sha256').update(`${secret}\n${calls}`).digest('hex').slice(0, 16)
  }

  /** The answer to a question that was kept before. It is used up with this. */
  async take(id: string): Promise<string | undefined> {
    const askedAt = this.#asked.get(id)
    if (askedAt === undefined) return undefined
    const isLate = performance.now() - askedAt > this.#timeoutMs
    const kept = await readQuestion(this.#fileOf(id))
    if (!isLate && kept?.answer === undefined) return undefined
    this.#asked.delete(id)
    await rm(this.#fileOf(id), { force: true })
    return isLate ? undefined : kept?.answer
  }

  /** @returns whether it is kept: not when too many are */
  async keep(id: string, text: string): Promise<boolean> {
    if (this.#asked.has(id)) return true
    for (const [other, askedAt] of this.#asked)
      if (performance.now() - askedAt > this.#timeoutMs) await this.take(other)
    if (this.#asked.size >= MAX_KEPT) return false
    await makePrivateFolder(this.#folder)
    await replaceFile(this.#fileOf(id), JSON.stringify({ id, text, pid: process.pid } satisfies KeptQuestion))
    this.#asked.set(id, performance.now())
    return true
  }

  /** Nobody waits for an answer any more. */
  async close(): Promise<void> {
    await Promise.all([...this.#asked.keys()].map((id) => rm(this.#fileOf(id), { force: true })))
    this.#asked.clear()
  }

  #fileOf(id: string): string {
    return path.join(this.#folder, `${id}.json`)
  }
}

/** The questions of all bridges that run. Those of others are removed. */
export async function listQuestions(stateDir: string): Promise<KeptQuestion[]> {
  const folder = questionsFolder(stateDir)
  const names = await readdir(folder).catch((): string[] => [])
  const found: KeptQuestion[] = []
  for (const name of names.filter((one) => /^[0-9a-f]{16}\.json$/.test(one))) {
    const question = await readQuestion(path.join(folder, name))
    if (question && isRunning(question.pid)) found.push(question)
    else await rm(path.join(folder, name), { force: true })
  }
  return found.filter(({ answer }) => answer === undefined)
}

/** @returns whether the question was still there */
export async function answerQuestion(stateDir: string, id: string, answer: string): Promise<boolean> {
  const file = path.join(questionsFolder(stateDir), `${id}.json`)
  const question = await readQuestion(file)
  if (question === undefined || question.answer !== undefined) return false
  await replaceFile(file, JSON.stringify({ ...question, answer }))
  return true
}

function questionsFolder(stateDir: string): string {
  return path.join(stateDir, '.sandbridge', 'questions')
}

async function readQuestion(file: string): Promise<KeptQuestion | undefined> {
  const value = parseJson(await readFile(file, 'utf8').catch(() => ''))
  if (!isRecord(value)) return undefined
  const { id, text, pid, answer } = value
  if (typeof id !== 'string' || typeof text !== 'string' || typeof pid !== 'number') return undefined
  return { id, text, pid, ...(typeof answer === 'string' && { answer }) }
}
