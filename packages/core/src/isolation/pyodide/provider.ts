// The embedded sandbox: Python compiled to WebAssembly, in an empty JavaScript context of a hardened child process,
// inside bubblewrap if available. Needs only Node. The code that runs inside is in inside/.
import type { PackageFiles } from '../cell-packages-part.ts'
import type { MissingPackage, Provider, Sandbox, SandboxLimits } from '../provider.ts'
import { SharedPreparation } from '../shared-preparation.ts'
import { type BundleOptions, ensureBundle, findDamagedBundle, keepBundle } from './bundle.ts'
import { childArguments, nodeFlags, planMemory, underMemoryCap, type MemoryPlan } from './command.ts'
import type { OuterLayer } from './native-wall-part.ts'
import { findOuterLayer } from './outer-layer.ts'
import { DEFAULT_MEMORY_BYTES } from '../../util/process/tight-memory.ts'
import { KERNEL_FOLDER } from '../../util/package-root.ts'
import { isRealRoot } from '../local/real-root.ts'
import { spawnSandbox } from './spawn-sandbox.ts'
import { readBuilt } from './snapshot.ts'

export interface PyodideOptions {
  /** Cache folder for the prepared Python. */
  cacheFolder: string
  /** The folder that contains the package `sandbridge_kernel`. */
  kernelFolder?: string
  /** The Node program for the sandbox; missing: the one that runs the bridge. */
  node?: string
  /** Finds the packages that cells can import. */
  packages?: ((onProgress: (message: string) => void) => Promise<PackageFiles>) | undefined
  /** Called with the outer layer. What it throws, `prepare` throws. */
  onLayer?: (layer: OuterLayer) => void
}

export class PyodideProvider implements Provider {
  readonly name = 'pyodide'
  missingPackages: readonly MissingPackage[] = []
  readonly #options: Required<PyodideOptions>
  readonly #prepared = new SharedPreparation((onProgress) => this.#bundleAndLayer(onProgress))

  constructor(options: PyodideOptions) {
    this.#options = withDefaults(options)
  }

  async prepare(onProgress?: (message: string) => void): Promise<void> {
    await this.#prepared.get(onProgress)
  }

  async start(limits: SandboxLimits): Promise<Sandbox> {
    const memory = planMemory(limits.memoryBytes)
    const outer = await this.#prepared.getGood(({ bundle }) => keepBundle(bundle))
    const wrapped = outer.wrap(sandboxCommand(outer.node, outer.bundle, memory))
    return spawnSandbox({ ...wrapped, command: underMemoryCap(wrapped.command, memory) })
  }

  /** Returns the folder of the snapshot for sandboxes without packages if it exists and is damaged. */
  findDamagedSnapshot(): Promise<string | undefined> {
    const { cacheFolder, kernelFolder } = this.#options
    return findDamagedBundle({ cacheFolder, kernelFolder, readableByAll: isRootOnLinux() })
  }

  async #bundleAndLayer(onProgress: (message: string) => void): Promise<OuterLayer> {
    // The trial of the outer wall and the check of the bundle run side by side.
    let outer!: Promise<OuterLayer>
    const onFolder = (folder: string): void => {
      outer = findOuterLayer(this.#options.node, folder)
    }
    await prepareBundle(this.#options, {
      onProgress,
      onFolder,
      onMissing: (missing) => (this.missingPackages = missing),
    })
    const layer = await outer
    this.#options.onLayer(layer)
    return layer
  }
}

/** Returns the innermost command: Node with its flags, able to read only the bundle. */
function sandboxCommand(node: string, bundle: string, memory: MemoryPlan): string[] {
  return [node, ...nodeFlags(bundle, memory), ...childArguments(bundle, 'serve', memory)]
}

/** Returns the folder of the bundle for these options, and builds it first if it is missing. See ensureBundle. */
export async function prepareBundle(
  options: PyodideOptions,
  {
    onMissing,
    ...listeners
  }: Pick<BundleOptions, 'onProgress' | 'onFolder'> & { onMissing?: (missing: readonly MissingPackage[]) => void } = {},
): Promise<string> {
  const { node, cacheFolder, kernelFolder, packages } = withDefaults(options)
  const found = await packages?.(listeners.onProgress ?? (() => {}))
  if (found) onMissing?.(found.missing)
  return ensureBundle({
    cacheFolder,
    kernelFolder,
    packages: found?.files ?? [],
    readableByAll: isRootOnLinux(),
    ...listeners,
    build: (folder) => {
      // V8 accepts a code cache only under its own flags, some of which depend on the memory: otherwise it recompiles.
      const memory = planMemory(found ? DEFAULT_MEMORY_BYTES.withPackages : DEFAULT_MEMORY_BYTES.plain)
      const command = [node, ...nodeFlags(folder, memory), ...childArguments(folder, 'build', memory)]
      return readBuilt(spawnSandbox({ command }))
    },
  })
}

function withDefaults(options: PyodideOptions): Required<PyodideOptions> {
  return {
    kernelFolder: KERNEL_FOLDER,
    node: process.execPath,
    packages: undefined,
    onLayer: () => {},
    ...options,
  }
}

/** Root's sandboxes run as another user. */
function isRootOnLinux(): boolean {
  return isRealRoot() && process.platform === 'linux'
}
