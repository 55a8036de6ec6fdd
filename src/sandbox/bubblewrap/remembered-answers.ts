// What programs of this machine have said of themselves, kept between starts: the first cell waits for one process instead of several, one after the
// other. An answer counts while the program is the same file. A script is always asked: what it answers may depend on anything.
import { closeSync, openSync, readFileSync, readSync, realpathSync, statSync } from 'node:fs'
import path from 'node:path'
import type { CommandResult } from '../../process/run-command.ts'
import { isOwnFolderSync, makePrivateFolder } from '../../storage/private-folder.ts'
import { replaceFile } from '../../storage/replace-file.ts'
import { isRecord, parseJson } from '../../text/json.ts'

/** More come together where several Pythons, or several PATHs, are in use. */
const MAX_COUNT = 32
const ELF = Buffer.from('\x7fELF', 'latin1')

interface Entry {
  /** What is stated of the file that answered. */
  file: string
  stdout: string
}

/** Reads without waiting, as the bridge loads its code meanwhile, and each answer of the disk would wait for its turn. */
export class RememberedAnswers {
  readonly #folder: string
  #entries: Map<string, Entry> | undefined

  constructor(cacheDir: string) {
    this.#folder = path.join(cacheDir, 'programs')
  }

  /**
   * What a program prints when it is asked, or printed when it was.
   * @param question tells it from all others; with what the answer depends on besides the program
   * @param run asks it
   * @param mayKeep whether what it has printed will be so the next time
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
    if (answer.code === 0 && mayKeep(answer.stdout))
      await this.#keep(entries, question, { file, stdout: answer.stdout })
    return { ...answer, isRemembered: false }
  }

  /** Ask all of them again. */
  forget(): void {
    this.#entries = new Map()
  }

  #read(): Map<string, Entry> {
    let kept: unknown
    try {
      // It says what is mounted in sandboxes.
      if (isOwnFolderSync(this.#folder)) kept = parseJson(readFileSync(this.#file, 'utf8'))
    } catch {
      // There is none yet.
    }
    if (!isRecord(kept)) return new Map()
    return new Map(Object.entries(kept).filter((entry): entry is [string, Entry] => isEntry(entry[1])))
  }

  async #keep(entries: Map<string, Entry>, question: string, entry: Entry): Promise<void> {
    entries.delete(question)
    entries.set(question, entry)
    const newest = [...entries].slice(-MAX_COUNT)
    try {
      await makePrivateFolder(this.#folder)
      await replaceFile(this.#file, JSON.stringify(Object.fromEntries(newest)))
    } catch {
      // Such as a disk that cannot be written to: it is asked again the next time.
    }
  }

  get #file(): string {
    return path.join(this.#folder, 'answers.json')
  }
}

function isEntry(value: unknown): value is Entry {
  return isRecord(value) && typeof value['file'] === 'string' && typeof value['stdout'] === 'string'
}

/** Which file it is and which version of it; undefined for what is no program of the system's own format. */
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
