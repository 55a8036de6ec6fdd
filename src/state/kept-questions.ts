// Questions about calls whose client cannot ask: kept in a private folder until `sandbridge approve` or the page answers them. An answer is for the
// bridge and the session that asked, for the text that was shown, in time, and once.
import { createHash, randomUUID } from 'node:crypto'
import { readdir, readFile, rm } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { isRunning } from '../process/process-id.ts'
import { makePrivateFolder } from '../storage/private-folder.ts'
import { replaceFile } from '../storage/replace-file.ts'
import { isRecord, parseJson } from '../text/json.ts'

/** A question as its file holds it. */
export interface KeptQuestion {
  id: string
  text: string
  /** Of the bridge that waits for the answer. */
  pid: number
  /** Another one each time that the same question is asked. */
  asking: string
  /** When it is too late to answer, in milliseconds since 1970. The bridge itself goes by a clock that cannot be set. */
  until: number
  answer?: string
}

interface Asked extends KeptQuestion {
  /** By a clock that cannot be set. */
  at: number
}

const MAX_KEPT = 50
const LOOK_EVERY_MS = 200

export class KeptQuestions {
  readonly #folder: string
  readonly #timeoutMs: number
  readonly #asked = new Map<string, Asked>()
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
    const asked = this.#asked.get(id)
    if (asked === undefined) return undefined
    const counts = performance.now() - asked.at <= this.#timeoutMs
    const kept = await readQuestion(this.#fileOf(id))
    const isOurs = kept !== undefined && isSame(kept, asked)
    if (counts && isOurs && kept.answer === undefined) return undefined
    if (this.#asked.get(id) !== asked) return undefined
    this.#asked.delete(id)
    await rm(this.#fileOf(id), { force: true })
    return counts && isOurs ? kept.answer : undefined
  }

  /** @returns undefined when too many are kept */
  async keep(id: string, text: string): Promise<KeptQuestion | undefined> {
    const known = this.#asked.get(id)
    if (known) return known
    for (const [other, { at }] of this.#asked) if (performance.now() - at > this.#timeoutMs) await this.take(other)
    if (this.#asked.size >= MAX_KEPT) return undefined
    const until = Date.now() + this.#timeoutMs
    const question: KeptQuestion = { id, text, pid: process.pid, asking: randomUUID(), until }
    // Counted before it is written: others are kept meanwhile.
    this.#asked.set(id, { ...question, at: performance.now() })
    try {
      await makePrivateFolder(this.#folder)
      await replaceFile(this.#fileOf(id), JSON.stringify(question))
    } catch (error) {
      this.#asked.delete(id)
      throw error
    }
    return question
  }

  /** Waits for the answer to a question that is kept. @returns undefined when none comes in time, or it is given up */
  async answerTo(id: string, signal: AbortSignal): Promise<string | undefined> {
    while (this.#asked.has(id) && !signal.aborted) {
      const answer = await this.take(id)
      if (answer !== undefined) return signal.aborted ? undefined : answer
      await sleep(LOOK_EVERY_MS, undefined, { signal }).catch(() => {})
    }
    return undefined
  }

  /** The answer to this question is no longer needed. */
  async withdraw(id: string): Promise<void> {
    if (this.#asked.delete(id)) await rm(this.#fileOf(id), { force: true })
  }

  async close(): Promise<void> {
    await Promise.all([...this.#asked.keys()].map((id) => this.withdraw(id)))
  }

  #fileOf(id: string): string {
    return path.join(this.#folder, `${id}.json`)
  }
}

/** The questions that all running bridges wait for. Those of others are removed. */
export async function listQuestions(stateDir: string): Promise<KeptQuestion[]> {
  const folder = questionsFolder(stateDir)
  const names = await readdir(folder).catch((): string[] => [])
  const found: KeptQuestion[] = []
  for (const name of names.filter((one) => /^[0-9a-f]{16}\.json$/.test(one))) {
    const question = await readQuestion(path.join(folder, name))
    if (question && isRunning(question.pid)) found.push(question)
    else await rm(path.join(folder, name), { force: true })
  }
  return found.filter(isOpen)
}

/** @param shown as the user has read it. @returns whether exactly this still waited for an answer */
export async function answerQuestion(
  stateDir: string,
  shown: Pick<KeptQuestion, 'id' | 'asking' | 'text'>,
  answer: string,
): Promise<boolean> {
  const file = path.join(questionsFolder(stateDir), `${shown.id}.json`)
  const question = await readQuestion(file)
  if (question === undefined || !isOpen(question) || !isSame(question, shown)) return false
  await replaceFile(file, JSON.stringify({ ...question, answer }))
  return true
}

function isOpen({ answer, until }: KeptQuestion): boolean {
  return answer === undefined && Date.now() <= until
}

function isSame(one: Pick<KeptQuestion, 'asking' | 'text'>, other: Pick<KeptQuestion, 'asking' | 'text'>): boolean {
  return one.asking === other.asking && one.text === other.text
}

function questionsFolder(stateDir: string): string {
  return path.join(stateDir, '.sandbridge', 'questions')
}

async function readQuestion(file: string): Promise<KeptQuestion | undefined> {
  const value = parseJson(await readFile(file, 'utf8').catch(() => ''))
  if (!isRecord(value)) return undefined
  const { id, text, pid, asking, until, answer } = value
  if (typeof id !== 'string' || typeof text !== 'string' || typeof pid !== 'number') return undefined
  if (typeof asking !== 'string' || typeof until !== 'number') return undefined
  return { id, text, pid, asking, until, ...(typeof answer === 'string' && { answer }) }
}
