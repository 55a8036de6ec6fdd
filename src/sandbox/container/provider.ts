// Sandboxes as containers, with podman or docker: their command line is started with --interactive, and its stdin and stdout are the channel.
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import path from 'node:path'
import { BridgeError } from '../../errors.ts'
import { CompiledKernels } from '../compiled-kernel.ts'
import { checkMemoryLimit, explainEnd, kernelEnvironment, loadNativeKernel } from '../native-kernel.ts'
import type { Provider, Sandbox, SandboxExit, SandboxLimits } from '../provider.ts'
import { StdioProcess } from '../stdio-process.ts'
import type { ProcessEnd } from '../stdio-process.ts'
import { runCommand } from '../run-command.ts'
import { ensureImage } from './image.ts'
import type { Image } from './image.ts'
import type { MountedFolder } from '../mounted-folder.ts'
import { ensurePackageImage } from './package-image.ts'
import { newContainerName, ownerLabels, removeLeftovers } from './owner.ts'
import { startPodmanMachine } from './podman-machine.ts'
import { probeEngine } from './probe-engine.ts'
import type { Engine, EngineName } from './probe-engine.ts'
import { runArguments } from './run-arguments.ts'
import { seccompProfile } from './seccomp-profile.ts'

/** Settings of all containers of a bridge; what they mean is in docs/configuration.md. */
export interface ContainerOptions {
  image: string
  /** `user` or `user:group` inside the container. */
  user: string
  pidsCount: number
  cpus?: number | undefined
  ociRuntime?: string | undefined
  mount?: MountedFolder | undefined
  /** Packages that cells can import, built into an image of their own. */
  packages?: readonly string[]
  /** Where what is found out is kept between runs. */
  cacheDir?: string
}

/** What `prepare` finds out. */
interface Prepared {
  engine: Engine
  image: Image
  seccompProfilePath: string
}

export class ContainerProvider implements Provider {
  readonly name: EngineName
  readonly #options: ContainerOptions
  #prepared: Promise<Prepared> | undefined
  readonly #listeners = new Set<(message: string) => void>()
  readonly #compiled: CompiledKernels

  /** @throws BridgeError CONFIG_INVALID for a user that is root */
  constructor(name: EngineName, options: ContainerOptions) {
    this.name = name
    this.#options = options
    this.#compiled = new CompiledKernels(options.cacheDir && path.join(options.cacheDir, 'kernels'))
    if (/^(0+|root)(:|$)/.test(options.user)) {
      throw new BridgeError(
        'CONFIG_INVALID',
        `Cells may not run as root: MCP_BRIDGE_CONTAINER_USER is ${options.user}.`,
        {
          hint: 'Leave it out, or name an ordinary user such as 65534:65534.',
        },
      )
    }
  }

  /**
   * Start a stopped Podman machine, find or pull the image, and remove what dead bridges left behind.
   * @throws BridgeError SANDBOX_ENGINE_MISSING, SANDBOX_IMAGE_MISSING
   */
  async prepare(onProgress?: (message: string) => void): Promise<void> {
    await this.#prepare(onProgress)
  }

  /** @throws BridgeError what `prepare` throws, CONFIG_INVALID for a memory limit that no Python fits in */
  async start(limits: SandboxLimits): Promise<Sandbox> {
    checkMemoryLimit(limits)
    const [prepared, kernel] = await Promise.all([this.#prepare(), loadNativeKernel()])
    const { engine, image } = prepared
    const { memoryBytes } = limits
    const compiled = await this.#compiled.find(kernel, image.id, (pythonArgs, input) =>
      runCommand(engine.command, this.#runArguments(prepared, newContainerName(), memoryBytes, pythonArgs), { input }),
    )
    const name = newContainerName()
    const { args, preamble } = kernel.start({ id: name, memoryBytes, pidsCount: this.#options.pidsCount, compiled })
    return new StdioProcess({
      id: name,
      provider: this.name,
      command: engine.command,
      args: this.#runArguments(prepared, name, memoryBytes, args),
      preamble,
      explain: (end) => this.#explain(end, engine),
      remove: async () => {
        await runCommand(engine.command, ['rm', '--force', '--volumes', name], { timeoutMs: 15_000 })
      },
    })
  }

  #runArguments(
    { engine, image, seccompProfilePath }: Prepared,
    name: string,
    memoryBytes: number,
    pythonArgs: readonly string[],
  ): string[] {
    const { user, cpus, ociRuntime, pidsCount, mount } = this.#options
    return runArguments({
      engine,
      name,
      labels: ownerLabels(),
      image: image.id,
      imageVolumes: image.volumes,
      user,
      memoryBytes,
      pidsCount,
      cpus,
      ociRuntime,
      seccompProfilePath,
      mount: mount && { ...mount, source: enginePath(mount.source, engine) },
      environment: kernelEnvironment(cpus === undefined ? Math.min(4, availableParallelism()) : Math.ceil(cpus)),
      pythonArgs,
    })
  }

  #prepare(onProgress?: (message: string) => void): Promise<Prepared> {
    if (onProgress) this.#listeners.add(onProgress)
    this.#prepared ??= this.#findEngineAndImage((message) => {
      for (const listener of this.#listeners) listener(message)
    }).catch((error: unknown) => {
      // What was wrong may be put right while the bridge runs: look again at the next need.
      this.#prepared = undefined
      throw error
    })
    return this.#prepared.finally(() => onProgress && this.#listeners.delete(onProgress))
  }

  async #findEngineAndImage(onProgress: (message: string) => void): Promise<Prepared> {
    let { engine, verdict, stoppedMachine } = await probeEngine(this.name)
    if (stoppedMachine) {
      await startPodmanMachine(onProgress)
      ;({ engine, verdict } = await probeEngine(this.name))
    }
    if (!engine) {
      throw new BridgeError('SANDBOX_ENGINE_MISSING', `Sandboxes cannot be made: ${verdict}.`, {
        hint: `Put ${this.name} right, or set MCP_BRIDGE_RUNTIME=pyodide to use the embedded sandbox.`,
      })
    }
    const base = await ensureImage(engine, this.#options.image, onProgress)
    const { packages = [] } = this.#options
    const image = packages.length === 0 ? base : await ensurePackageImage(engine, base, packages, onProgress)
    // Nobody waits for it, and no cell suffers when it fails: it only tidies up.
    void removeLeftovers(engine).catch(() => {})
    return { engine, image, seccompProfilePath: enginePath(writeSeccompProfile(), engine) }
  }

  #explain(end: ProcessEnd, engine: Engine): Pick<SandboxExit, 'reason' | 'detail'> {
    if (end.spoke) return explainEnd(end)
    const { image } = this.#options
    // Exit codes of `run` itself. The image or the engine may have changed since it was looked at: look again at the next start.
    if (end.code === 125) {
      this.#prepared = undefined
      return { reason: 'failed-to-start', detail: `${engine.command} could not make a container: ${end.stderr}` }
    }
    if (end.code === 126 || end.code === 127) {
      return { reason: 'failed-to-start', detail: `Image ${image} has no python3 that can be run. ${end.stderr}` }
    }
    const explained = explainEnd(end)
    if (explained.reason !== 'exited') return explained
    return { reason: 'failed-to-start', detail: `Python in image ${image} did not come up: ${end.stderr}` }
  }
}

let profilePath: string | undefined

/** Engines read the profile from a file. It is in a folder that only this user can change, and goes when the bridge ends. */
function writeSeccompProfile(): string {
  if (profilePath === undefined) {
    const folder = mkdtempSync(path.join(tmpdir(), 'sandbridge-'))
    profilePath = path.join(folder, 'seccomp.json')
    writeFileSync(profilePath, seccompProfile(), { mode: 0o444 })
    // Podman may run as another user than the bridge.
    chmodSync(folder, 0o755)
    process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  }
  return profilePath
}

/** A path as the engine sees it: Podman on Windows reads the profile inside its machine, where drives are under /mnt. */
export function enginePath(file: string, engine: Engine, platform: NodeJS.Platform = process.platform): string {
  const drive = /^([A-Za-z]):[\\/](.*)$/s.exec(file)
  if (platform !== 'win32' || engine.dialect !== 'podman' || !drive) return file
  return `/mnt/${drive[1]!.toLowerCase()}/${drive[2]!.replaceAll('\\', '/')}`
}
