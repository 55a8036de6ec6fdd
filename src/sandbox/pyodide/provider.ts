// The embedded sandbox: Python compiled to WebAssembly, in an empty JavaScript context of a hardened child process, wrapped in bubblewrap where
// there is one. Needs nothing but Node. It makes sandboxes; what runs inside is in inside/, what may run there is the kernel's business.
import type { Provider, Sandbox, SandboxLimits } from '../provider.ts'
import { BridgeError } from '../../errors.ts'
import { ensureBundle } from './bundle.ts'
import { SMALLEST_MEMORY_BYTES, childArguments, nodeFlags, planMemory, underMemoryCap, type MemoryPlan } from './command.ts'
import { findOuterLayer, type OuterLayer } from './outer-bubblewrap.ts'
import { KERNEL_FOLDER } from '../../package-root.ts'
import { defaultCacheFolder, thisMachine } from './paths.ts'
import { spawnSandbox } from './spawn-sandbox.ts'
import { readSnapshot } from './snapshot.ts'

export interface PyodideOptions {
  /** Where the prepared Python is kept between runs; missing means the platform's folder for caches. */
  cacheFolder?: string
  /** The folder that holds the package `sandbridge_kernel`. */
  kernelFolder?: string
  /** The Node program that runs the sandbox; missing means the one that runs the bridge. */
  node?: string
}

/** Memory for the process that makes the snapshot, whatever the sandboxes are given later. */
const BUILD_MEMORY_BYTES = 2 * SMALLEST_MEMORY_BYTES

export class PyodideProvider implements Provider {
  readonly name = 'pyodide'
  readonly #options: Required<PyodideOptions>
  #preparing: Promise<OuterLayer> | undefined
  #outer: OuterLayer | undefined

  constructor(options: PyodideOptions = {}) {
    this.#options = {
      cacheFolder: options.cacheFolder ?? defaultCacheFolder(thisMachine()),
      kernelFolder: options.kernelFolder ?? KERNEL_FOLDER,
      node: options.node ?? process.execPath,
    }
  }

  async prepare(onProgress?: (message: string) => void): Promise<void> {
    await this.#prepare(onProgress)
  }

  async start(limits: SandboxLimits): Promise<Sandbox> {
    const memory = planMemory(limits.memoryBytes)
    const outer = await this.#prepare()
    const { command, extraInput } = outer.wrap(sandboxCommand(outer.node, outer.bundle, memory))
    return spawnSandbox(underMemoryCap(command, memory), extraInput)
  }

  /** What stands between the code and the machine, outermost first, in words for a person. Known after prepare(). */
  layers(): string[] {
    const outer = this.#outer?.verdict ?? 'bubblewrap: not looked for yet'
    return [
      outer,
      process.platform === 'linux' ? 'memory: hard cap on the process (RLIMIT_DATA)' : 'memory: caps inside the process only',
      'process: Node’s permission model, no code from strings, frozen intrinsics, empty environment',
      'context: an empty JavaScript context without a single object of Node’s',
      'python: WebAssembly, without the modules that lead to JavaScript',
    ]
  }

  #prepare(onProgress?: (message: string) => void): Promise<OuterLayer> {
    this.#preparing ??= this.#prepareOnce(onProgress).catch((error: unknown) => {
      // Whatever was wrong may be put right: the next call tries again.
      this.#preparing = undefined
      throw error
    })
    return this.#preparing
  }

  async #prepareOnce(onProgress?: (message: string) => void): Promise<OuterLayer> {
    const { node, cacheFolder } = this.#options
    const bundle = await ensureBundle({
      cacheFolder,
      kernelFolder: this.#options.kernelFolder,
      readableByAll: thisMachine().isRoot && process.platform === 'linux',
      onProgress,
      makeSnapshot: async (folder) => {
        const memory = planMemory(BUILD_MEMORY_BYTES)
        const command = [node, ...nodeFlags(folder, memory), ...childArguments(folder, 'build', memory)]
        return readSnapshot(await spawnSandbox(command))
      },
    })
    this.#outer = await findOuterLayer(node, bundle)
    return this.#outer
  }
}

/** The innermost command: Node with its flags, reading only the bundle. */
export function sandboxCommand(node: string, bundle: string, memory: MemoryPlan): string[] {
  return [node, ...nodeFlags(bundle, memory), ...childArguments(bundle, 'serve', memory)]
}
