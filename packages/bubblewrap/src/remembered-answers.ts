// Remembers between starts what programs of this machine reported, so that the first cell waits for one process instead
// of several in sequence. An answer is valid while the program's file is unchanged. Scripts are always asked, since
// their answer may depend on anything.
import { closeSync, openSync, readSync, realpathSync, statSync } from 'node:fs'
import path from 'node:path'
import type { CommandResult } from '@sandbridge/core/util/process'
import { keepText, readKeptText } from '@sandbridge/core/util/files'
import { isRecord, parseJson } from '@sandbridge/core/util/json/json.ts'

/** Several Pythons, or several PATHs, give several entries. */
const MAX_COUNT = 32
const ELF = Buffer.from('\x7fELF', 'latin1')

interface Entry {
  /** Identity and version of the file that answered. */
  file: string
  stdout: string
}

/**
 * Reads synchronously: the bridge loads its code meanwhile, and each asynchronous disk access would queue behind that.
 */
export class RememberedAnswers {
  readonly #file: string
  #entries: Map<string, Entry> | undefined

  constructor(cacheDir: string) {
    this.#file = path.join(cacheDir, 'programs', 'answers.json')
  }

  /**
   * Returns the program's output, from memory or by running it.
   * @param question identifies the question, with everything besides the program that the answer depends on
   * @param run runs the program
   * @param mayKeep tells whether the output will be the same next time
   */
  async ask(
    question: string,
    program: string,
    run: () => Promise<CommandResult>,
    mayKeep: (stdout: string) => boolean,
  ): Promise<CommandResult & { isRemembered: boolean }> {
    const file = describeFile(program)
    if (file === undefined) return { ...(await run()), isRemembered: false }
    const entries = (this.#entries ??= this.#read())
    const known = entries.get(question)
    if (known?.file === file) return { code: 0, stdout: known.stdout, stderr: '', missing: false, isRemembered: true }
    const answer = await run()
    if (answer.code === 0 && mayKeep(answer.stdout)) this.#keep(entries, question, { file, stdout: answer.stdout })
    return { ...answer, isRemembered: false }
  }

  /** Forget all answers. */
  forget(): void {
    this.#entries = new Map()
  }

  /** The answers determine what is mounted in sandboxes. */
  #read(): Map<string, Entry> {
    const kept = parseJson(readKeptText(this.#file) ?? '')
    if (!isRecord(kept)) return new Map()
    return new Map(Object.entries(kept).filter((entry): entry is [string, Entry] => isEntry(entry[1])))
  }

  #keep(entries: Map<string, Entry>, question: string, entry: Entry): void {
    entries.delete(question)
    entries.set(question, entry)
    const newest = [...entries].slice(-MAX_COUNT)
    try {
      keepText(this.#file, JSON.stringify(Object.fromEntries(newest)))
    } catch {
      // For example a read-only disk: the program is asked again next time.
    }
  }
}

function isEntry(value: unknown): value is Entry {
  return isRecord(value) && typeof value['file'] === 'string' && typeof value['stdout'] === 'string'
}

/** Identifies a file and its version; undefined unless it is a native (ELF) program. */
function describeFile(program: string): string | undefined {
  try {
    const real = realpathSync(program)
    if (!firstBytes(real).equals(ELF)) return undefined
    const { dev, ino, size, mtimeNs, ctimeNs } = statSync(real, { bigint: true })
    return [real, dev, ino, size, mtimeNs, ctimeNs].join(' ')
  } catch {
    return undefined
  }
}

function firstBytes(file: string): Buffer {
  const bytes = Buffer.alloc(ELF.length)
  const fd = openSync(file, 'r')
  try {
    readSync(fd, bytes, 0, bytes.length, 0)
    return bytes
  } finally {
    closeSync(fd)
  }
}
