// The kernel in the bytecode of one Python, made by that Python when it was first used and kept on disk: a start from source takes a third longer,
// and a waiting sandbox would hold what compiling leaves behind. It is only ever handed to the Python that made it, and never read by us.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import type { NativeKernel } from './native-kernel.ts'
import type { CommandResult } from '../process/run-command.ts'
import { replaceFile } from '../storage/replace-file.ts'
import { makePrivateFolder } from '../storage/private-folder.ts'

/** Compiling takes the machine for a while, which the sandbox that has just been started should have first. */
const COMPILE_AFTER_MS = 1_000
const DIGEST_BYTES = 32

type Sources = Pick<NativeKernel, 'sources' | 'compileArgs'>

/** Runs the Python in question with these arguments and this input. */
export type RunPython = (args: readonly string[], input: Buffer) => Promise<CommandResult>

export class CompiledKernels {
  readonly #folder: string | undefined
  readonly #known = new Map<string, Buffer | undefined>()

  /** @param folder where they are kept between runs; without it they are made for this process only */
  constructor(folder: string | undefined) {
    this.#folder = folder
  }

  /**
   * What was compiled before. When nothing was, it is compiled in the background, for later.
   * @param python what tells this Python from every other one: an image's id, say
   */
  find(kernel: Sources, python: string, run: RunPython): Buffer | undefined {
    const key = createHash('sha256').update(kernel.sources).update(python).digest('hex')
    if (this.#known.has(key)) return this.#known.get(key)
    const stored = this.#read(key)
    this.#known.set(key, stored)
    if (!stored) setTimeout(() => void this.#compile(key, kernel, run), COMPILE_AFTER_MS).unref()
    return stored
  }

  async #compile(key: string, kernel: Sources, run: RunPython): Promise<void> {
    const { code, stdout } = await run(kernel.compileArgs, kernel.sources)
    // It goes on from source then, as it did before.
    if (code !== 0 || stdout === '') return
    const compiled = Buffer.from(stdout, 'base64')
    this.#known.set(key, compiled)
    await this.#write(key, compiled).catch(() => {})
  }

  #read(key: string): Buffer | undefined {
    if (this.#folder === undefined) return undefined
    try {
      const file = readFileSync(path.join(this.#folder, key))
      const content = file.subarray(DIGEST_BYTES)
      // Python crashes on bytecode that is damaged.
      return file.subarray(0, DIGEST_BYTES).equals(digest(content)) ? content : undefined
    } catch {
      return undefined
    }
  }

  async #write(key: string, compiled: Buffer): Promise<void> {
    if (this.#folder === undefined) return
    await makePrivateFolder(this.#folder)
    await replaceFile(path.join(this.#folder, key), Buffer.concat([digest(compiled), compiled]))
  }
}

function digest(content: Buffer): Buffer {
  return createHash('sha256').update(content).digest()
}
