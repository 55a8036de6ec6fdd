// What programs of this machine have said of themselves, kept between starts: the first cell waits for one process instead of several, one after the
// other. An answer counts while the program is the same file. A script is always asked: what it answers may depend on anything.
import { open, readFile, realpath, stat } from 'node:fs/promises'
import path from 'node:path'
import type { CommandResult } from '../../process/run-command.ts'
import { isOwnFolder, makePrivateFolder } from '../../storage/private-folder.ts'
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

export class RememberedAnswers {
  readonly #folder: string
  #entries: Promise<Map<string, Entry>> | undefined

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
    const file = await describeFile(program)
    if (file === undefined) return { ...(await run()), isRemembered: false }
    const entries = await (this.#entries ??= this.#read())
    const known = entries.get(question)
    if (known?.file === file) return { code: 0, stdout: known.stdout, stderr: '', missing: false, isRemembered: true }
    const answer = await run()
    if (answer.code === 0 && mayKeep(answer.stdout)) await this.#keep(entries, question, { file, stdout: answer.stdout })
    return { ...answer, isRemembered: false }
  }

  /** Ask all of them again. */
  forget(): void {
    this.#entries = Promise.resolve(new Map())
  }

  async #read(): Promise<Map<string, Entry>> {
    // It says what is mounted in sandboxes.
    const text = (await isOwnFolder(this.#folder)) ? await readFile(this.#file, 'utf8').catch(() => '') : ''
    const kept = parseJson(text)
    if (!isRecord(kept)) return new Map()
    return new Map(Object.entries(kept).filter((entry): entry is [string, Entry] => isEntry(entry[1])))
  }

  /** Where the disk cannot be written to, it is asked again the next time. */
  async #keep(entries: Map<string, Entry>, question: string, entry: Entry): Promise<void> {
    entries.delete(question)
    entries.set(question, entry)
    const newest = [...entries].slice(-MAX_COUNT)
    try {
      await makePrivateFolder(this.#folder)
      await replaceFile(this.#file, JSON.stringify(Object.fromEntries(newest)))
    } catch {}
  }

  get #file(): string {
    return path.join(this.#folder, 'answers.json')
  }
}

function isEntry(value: unknown): value is Entry {
  return isRecord(value) && typeof value['file'] === 'string' && typeof value['stdout'] === 'string'
}

/** Which file it is and which version of it; undefined for what is no program of the system's own format. */
async function describeFile(program: string): Promise<string | undefined> {
  try {
    const real = await realpath(program)
    const handle = await open(real)
    try {
      const { buffer } = await handle.read(Buffer.alloc(ELF.length), 0, ELF.length, 0)
      if (!buffer.equals(ELF)) return undefined
    } finally {
      await handle.close()
    }
    const { dev, ino, size, mtimeNs, ctimeNs } = await stat(real, { bigint: true })
    return [real, dev, ino, size, mtimeNs, ctimeNs].join(' ')
  } catch {
    return undefined
  }
}
