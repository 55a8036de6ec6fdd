// Questions about calls for clients that cannot ask: kept in a private folder until `sandbridge approve` or the page
// answers them. An answer is valid once, before the timeout, for the bridge and session that asked, and for the text
// that was shown.
import { hash, randomUUID } from 'node:crypto'
import { readdir, rm } from 'node:fs/promises'
import path from 'node:path'
import type { KeptQuestion } from '@sandbridge/core/calls'
import { setTimeout as sleep } from 'node:timers/promises'
import { isRunning } from '@sandbridge/core/util/process'
import { makePrivateFolder, readOrdinary, replaceFile } from '@sandbridge/core/util/files'
import { isRecord, parseJson } from '@sandbridge/core/util/json/json.ts'

interface Asked extends KeptQuestion {
  /** When it was asked, on the monotonic clock. */
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

  /** Returns the id of a session's question about exactly these calls. */
  idOf(session: object, calls: string): string {
    const secret = this.#sessions.get(session) ?? randomUUID()
    this.#sessions.set(session, secret)
    return hash('sha256', `${secret}\n${calls}`).slice(0, 16)
  }

  /**
   * Returns the answer to a kept question and deletes the question; undefined while there is no answer, or if it came
   * too late.
   */
  async take(id: string): Promise<string | undefined> {
    const asked = this.#asked.get(id)
    if (asked === undefined) return undefined
    const counts = performance.now() - asked.at <= this.#timeoutMs
    const kept = await readQuestion(this.#fileOf(id))
    const isOurs = kept !== undefined && isSame(kept, asked)
    if (counts && isOurs && kept.answer === undefined) return undefined
    if (this.#asked.get(id) !== asked) return undefined
    this.#asked.delete(id)
    await remove(this.#fileOf(id))
    return counts && isOurs ? kept.answer : undefined
  }

  /** @param cell its id, if it waits for the answer @returns undefined when too many questions are open */
  async keep(
    id: string,
    text: string,
    { cell, trusts }: Pick<KeptQuestion, 'cell' | 'trusts'> = {},
  ): Promise<KeptQuestion | undefined> {
    const known = this.#asked.get(id)
    if (known && known.cell === cell && known.trusts === trusts) return known
    for (const [other, { at }] of this.#asked) if (performance.now() - at > this.#timeoutMs) await this.take(other)
    if (this.#asked.size >= MAX_KEPT) return undefined
    const until = Date.now() + this.#timeoutMs
    const question: KeptQuestion = { id, text, pid: process.pid, asking: randomUUID(), until, cell, trusts }
    // Count it before the write: other questions may be kept meanwhile.
    this.#asked.set(id, { ...question, at: performance.now() })
    try {
      makePrivateFolder(this.#folder)
      await replaceFile(this.#fileOf(id), JSON.stringify(question))
    } catch (error) {
      this.#asked.delete(id)
      throw error
    }
    return question
  }

  /** Wait for the answer to a kept question. @returns undefined on timeout, or if the question is withdrawn */
  async answerTo(id: string, signal: AbortSignal): Promise<string | undefined> {
    while (this.#asked.has(id) && !signal.aborted) {
      const answer = await this.take(id)
      if (answer !== undefined) return signal.aborted ? undefined : answer
      await sleep(LOOK_EVERY_MS, undefined, { signal }).catch(() => {})
    }
    return undefined
  }

  /** The answer is no longer needed. */
  async withdraw(id: string): Promise<void> {
    if (this.#asked.delete(id)) await remove(this.#fileOf(id))
  }

  async close(): Promise<void> {
    await Promise.all([...this.#asked.keys()].map((id) => this.withdraw(id)))
  }

  #fileOf(id: string): string {
    return path.join(this.#folder, `${id}.json`)
  }
}

/** Returns open questions of all running bridges. Removes those of bridges that have ended. */
export async function listQuestions(stateDir: string): Promise<KeptQuestion[]> {
  const folder = questionsFolder(stateDir)
  const names = await readdir(folder).catch((): string[] => [])
  const found: KeptQuestion[] = []
  for (const name of names.filter((one) => /^[0-9a-f]{16}\.json$/.test(one))) {
    const question = await readQuestion(path.join(folder, name))
    if (question && isRunning(question.pid)) found.push(question)
    else await remove(path.join(folder, name))
  }
  return found.filter(isOpen)
}

/** @param shown the question as the user read it @returns false if it no longer waits for an answer, or has changed */
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

/** A folder in its place stays. */
async function remove(file: string): Promise<void> {
  await rm(file, { force: true }).catch(() => {})
}

/** Undefined for anything but a question in its own file. */
async function readQuestion(file: string): Promise<KeptQuestion | undefined> {
  const value = parseJson(String(await readOrdinary(file).catch(() => '')))
  if (!isRecord(value)) return undefined
  const { id, text, pid, asking, until, answer, cell, trusts } = value
  if (typeof id !== 'string' || path.basename(file) !== `${id}.json`) return undefined
  if (typeof text !== 'string' || typeof pid !== 'number') return undefined
  if (typeof asking !== 'string' || typeof until !== 'number') return undefined
  const given = typeof answer === 'string' ? { answer } : {}
  const offer = typeof trusts === 'string' ? { trusts } : {}
  return { id, text, pid, asking, until, ...given, ...offer, ...(typeof cell === 'string' && { cell }) }
}
