// The embedded sandbox: Python compiled to WebAssembly, in an empty JavaScript context of a hardened child process, wrapped in bubblewrap where
// there is one. Needs nothing but Node. It makes sandboxes; what runs inside is in inside/, what may run there is the kernel's business.
import type { Provider, Sandbox, SandboxLimits } from '../provider.ts'
import { ensureBundle } from './bundle.ts'
import { childArguments, nodeFlags, planMemory, underMemoryCap, type MemoryPlan } from './command.ts'
import { BridgeError } from '../../errors.ts'
import { needsNoInstaller, readRequestedPackages, unpackWheels } from '../packages/requested-packages.ts'
import { isPureWheel, type PackageFile } from '../packages/wheel.ts'
import { findOuterLayer, type OuterLayer } from './outer-bubblewrap.ts'
import { KERNEL_FOLDER } from '../../package-root.ts'
import { spawnSandbox } from './spawn-sandbox.ts'
import { readSnapshot } from './snapshot.ts'

export interface PyodideOptions {
  /** Where the prepared Python is kept between runs. */
  cacheFolder: string
  /** The folder that holds the package `sandbridge_kernel`. */
  kernelFolder?: string
  /** The Node program that runs the sandbox; missing means the one that runs the bridge. */
  node?: string
  /** Pure Python wheels that cells can import: files, or folders of them. */
  packages?: readonly string[]
}

/**
 * Memory for the process that makes the snapshot: what sandboxes get unless a setting says otherwise. V8 takes a code cache only under the flags that it
 * was made under, and some of those follow from the memory. With another size the glue is compiled at every start.
 */
const BUILD_MEMORY_BYTES = 512 << 20

export class PyodideProvider implements Provider {
  readonly name = 'pyodide'
  readonly #options: Required<PyodideOptions>
  #preparing: Promise<OuterLayer> | undefined
  #outer: OuterLayer | undefined

  constructor(options: PyodideOptions) {
    this.#options = withDefaults(options)
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
      process.platform === 'linux'
        ? 'memory: hard cap on the process (RLIMIT_DATA)'
        : 'memory: caps inside the process only',
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
    const bundle = await prepareBundle(this.#options, onProgress)
    this.#outer = await findOuterLayer(this.#options.node, bundle)
    return this.#outer
  }
}

/** The innermost command: Node with its flags, reading only the bundle. */
export function sandboxCommand(node: string, bundle: string, memory: MemoryPlan): string[] {
  return [node, ...nodeFlags(bundle, memory), ...childArguments(bundle, 'serve', memory)]
}

/** The folder of the bundle for these options, made when it is not there yet. See ensureBundle. */
export async function prepareBundle(options: PyodideOptions, onProgress?: (message: string) => void): Promise<string> {
  const { node, cacheFolder, kernelFolder, packages } = withDefaults(options)
  return ensureBundle({
    cacheFolder,
    kernelFolder,
    packages: await packageFiles(packages),
    // Root's sandboxes run as another user.
    readableByAll: process.getuid?.() === 0 && process.platform === 'linux',
    onProgress,
    makeSnapshot: (folder) => {
      const memory = planMemory(BUILD_MEMORY_BYTES)
      return readSnapshot(
        spawnSandbox([node, ...nodeFlags(folder, memory), ...childArguments(folder, 'build', memory)]),
      )
    },
  })
}

function withDefaults(options: PyodideOptions): Required<PyodideOptions> {
  return {
    kernelFolder: KERNEL_FOLDER,
    node: process.execPath,
    packages: [],
    ...options,
  }
}

async function packageFiles(words: readonly string[]): Promise<PackageFile[]> {
  const requested = await readRequestedPackages(words)
  if (needsNoInstaller(requested)) return unpackWheels(requested)
  const compiled = requested.wheels.map(({ fileName }) => fileName).filter((fileName) => !isPureWheel(fileName))
  const named = [...requested.requirements, ...compiled].join(', ')
  throw new BridgeError('CONFIG_INVALID', `The embedded sandbox takes pure Python wheels only, not ${named}`, {
    hint: 'Put wheel files such as name-1.0-py3-none-any.whl into MCP_BRIDGE_PACKAGES, or use podman, docker or bubblewrap.',
  })
}
