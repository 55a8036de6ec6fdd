// The kernel's bytecode on disk, per Python, which saves a third of a start. Only the Python that made it reads it.
import { createHash } from 'node:crypto'
import path from 'node:path'
import { makePrivateFolder, readOrdinarySync, replaceFile } from '@sandbridge/core/util/files'
import type { CommandResult } from '@sandbridge/core/util/process'
import type { NativeKernel } from './native-kernel.ts'

/** Delay before compiling, which slows the machine: the sandbox that has just started should run first. */
const COMPILE_AFTER_MS = 1_000
const DIGEST_BYTES = 32

type Sources = Pick<NativeKernel, 'sources' | 'compileArgs'>

/** Runs the Python in question with these arguments and this input. */
export type RunPython = (args: readonly string[], input: Buffer) => Promise<CommandResult>

export class CompiledKernels {
  readonly #folder: string | undefined
  readonly #known = new Map<string, Buffer | undefined>()

  /** @param folder cache folder; missing: bytecode is kept for this process only */
  constructor(folder: string | undefined) {
    this.#folder = folder
  }

  /** Returns earlier bytecode; without it, compiles in the background for later starts. @param python its identity */
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
    // Sandboxes then keep starting from source.
    if (code !== 0 || stdout === '') return
    const compiled = Buffer.from(stdout, 'base64')
    this.#known.set(key, compiled)
    await this.#write(key, compiled).catch(() => {})
  }

  #read(key: string): Buffer | undefined {
    if (this.#folder === undefined) return undefined
    try {
      const file = readOrdinarySync(path.join(this.#folder, key))
      const content = file.subarray(DIGEST_BYTES)
      // Python crashes on damaged bytecode.
      return file.subarray(0, DIGEST_BYTES).equals(digest(content)) ? content : undefined
    } catch {
      return undefined
    }
  }

  async #write(key: string, compiled: Buffer): Promise<void> {
    if (this.#folder === undefined) return
    makePrivateFolder(this.#folder)
    await replaceFile(path.join(this.#folder, key), Buffer.concat([digest(compiled), compiled]))
  }
}

function digest(content: Buffer): Buffer {
  return createHash('sha256').update(content).digest()
}
