// Sandboxes as containers of podman or docker: runs the engine's command with --interactive, and uses its stdin and
// stdout as the channel. If the engine runs on this machine, frames use a socket instead, and the command only starts
// and ends the sandbox.
import { availableParallelism } from 'node:os'
import path from 'node:path'
import { BridgeError } from '@sandbridge/core/errors.ts'
import { SharedPreparation, StdioProcess } from '@sandbridge/core/isolation'
import type {
  Explained,
  MissingPackage,
  ProcessEnd,
  Provider,
  Sandbox,
  MountedFolder,
  SandboxLimits,
} from '@sandbridge/core/isolation'
import { CompiledKernels } from '@sandbridge/native/compiled-kernel.ts'
import {
  checkMemoryLimit,
  explainEnd,
  kernelEnvironment,
  loadNativeKernel,
  whyNoKernel,
} from '@sandbridge/native/native-kernel.ts'
import type { NativeKernel } from '@sandbridge/native/native-kernel.ts'
import { runCommand } from '@sandbridge/core/util/process'
import { EXIT_ENGINE, enginePath, probeEngine, type Engine } from './probe-engine.ts'
import { CHANNEL_TARGET } from './channel-socket.ts'
import { ensureImage, type Image } from './image.ts'
import type { EngineName } from '@sandbridge/core/parts'
import { ensurePackageImage } from './package-image.ts'
import { explainNoContainer } from './no-container.ts'
import { newContainerName, ownerLabels, removeLeftovers } from './owner.ts'
import { PastEngine } from './past-engine.ts'
import { startPodmanMachine } from './podman-machine.ts'
import { runArguments } from './run-arguments.ts'
import { seccompProfileFile } from './seccomp-file.ts'
import { readFile } from 'node:fs/promises'

/** The outcome of `prepare`. */
interface Prepared {
  engine: Engine
  image: Image
}

interface RunParts {
  prepared: Prepared
  kernel: NativeKernel
  compiled: Buffer | undefined
  memoryBytes: number
  /** Path of the socket for its frames; undefined: frames go through the engine. */
  channelPath: string | undefined
}

/** Options for all containers of a bridge; docs/configuration.md explains them. */
export interface ContainerOptions {
  image: string
  /** `user` or `user:group` inside the container. */
  user: string
  pidsCount: number
  cpus?: number | undefined
  ociRuntime?: string | undefined
  mount?: MountedFolder | undefined
  /** Give cells a folder `/projects`. */
  projects?: boolean
  /** Packages that cells can import, built into a separate image. */
  packages?: readonly string[]
  /** Cache folder, kept between runs. */
  cacheDir?: string
  /** How long to wait for an image that is being pulled. Missing: until it is here. */
  pullPatienceMs?: number | undefined
  /** Let frames bypass an engine on this machine. Default true. */
  direct?: boolean
}

export class ContainerProvider implements Provider {
  readonly name: EngineName
  missingPackages: readonly MissingPackage[] = []
  readonly #options: ContainerOptions
  readonly #prepared = new SharedPreparation((onProgress) => this.#findEngineAndImage(onProgress))
  readonly #compiled: CompiledKernels
  readonly #pastEngine = new PastEngine()

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
          hint: 'Unset it, or set an unprivileged user such as 65534:65534.',
        },
      )
    }
  }

  /**
   * Start a stopped Podman machine, find or pull the image, and remove what ended bridges left behind.
   * @throws BridgeError SANDBOX_ENGINE_MISSING, SANDBOX_IMAGE_MISSING
   */
  async prepare(onProgress?: (message: string) => void): Promise<void> {
    await this.#prepared.get(onProgress)
  }

  /** @throws BridgeError as `prepare` does, CONFIG_INVALID for a memory limit that is too low for Python */
  async start(limits: SandboxLimits): Promise<Sandbox> {
    checkMemoryLimit(limits)
    const prepared = await this.#prepared.get()
    const kernel = loadNativeKernel()
    const { engine, image } = prepared
    const { memoryBytes } = limits
    const compiled = this.#compiled.find(kernel, image.id, (pythonArgs, input) =>
      runCommand(engine.command, this.#runArguments(prepared, newContainerName(), memoryBytes, pythonArgs), { input }),
    )
    const run = (channelPath?: string) => this.#run({ prepared, kernel, compiled, memoryBytes, channelPath })
    const { direct = true } = this.#options
    return direct ? this.#pastEngine.start(engine, run) : run()
  }

  #run({ prepared, kernel, compiled, memoryBytes, channelPath }: RunParts): StdioProcess {
    const { command } = prepared.engine
    const name = newContainerName()
    const { args, preamble } = kernel.start({
      id: name,
      memoryBytes,
      pidsCount: this.#options.pidsCount,
      compiled,
      channel: channelPath && CHANNEL_TARGET,
    })
    return new StdioProcess({
      id: name,
      provider: this.name,
      command,
      args: this.#runArguments(prepared, name, memoryBytes, args, channelPath),
      preamble,
      explain: (end) => this.#explain(end, command),
      findPid: () => containerPid(command, name),
      remove: async () => {
        await runCommand(command, ['rm', '--force', '--volumes', name], { timeoutMs: 15_000 })
      },
    })
  }

  #runArguments(
    { engine, image }: Prepared,
    name: string,
    memoryBytes: number,
    pythonArgs: readonly string[],
    channelPath?: string,
  ): string[] {
    const { user, cpus, ociRuntime, pidsCount, mount, projects = false } = this.#options
    return runArguments({
      engine,
      name,
      labels: ownerLabels(name),
      image: image.id,
      imageVolumes: image.volumes,
      user,
      memoryBytes,
      pidsCount,
      cpus,
      ociRuntime,
      seccompProfilePath: enginePath(seccompProfileFile(engine.enforcesLimits, engine.command), engine),
      mount: mount && { ...mount, source: enginePath(mount.source, engine) },
      projects,
      channelPath,
      environment: kernelEnvironment(cpus === undefined ? Math.min(4, availableParallelism()) : Math.ceil(cpus)),
      pythonArgs,
    })
  }

  async #findEngineAndImage(onProgress: (message: string) => void): Promise<Prepared> {
    let { engine, verdict, stoppedMachine } = await probeEngine(this.name)
    if (stoppedMachine) {
      await startPodmanMachine(onProgress)
      ;({ engine, verdict } = await probeEngine(this.name))
    }
    if (!engine) {
      throw new BridgeError('SANDBOX_ENGINE_MISSING', `No sandbox can start: ${verdict}.`, {
        hint: `Fix ${this.name}, or set MCP_BRIDGE_RUNTIME=pyodide to use the embedded sandbox.`,
      })
    }
    const { image: wanted, packages = [], cacheDir, pullPatienceMs } = this.#options
    const base = await ensureImage(engine, wanted, onProgress, pullPatienceMs)
    const memory = cacheDir && path.join(cacheDir, 'packages')
    const { image, missing } = await ensurePackageImage(engine, base, packages, { memory, onProgress })
    this.missingPackages = missing
    // Cleans up in the background; failures are ignored.
    void removeLeftovers(engine).catch(() => {})
    return { engine, image }
  }

  async #explain(end: ProcessEnd, command: EngineName): Promise<Explained> {
    if (end.code === EXIT_ENGINE) return this.#explainEngine(end, command)
    if (end.spoke) return explainEnd(end)
    const { image, user } = this.#options
    if (end.code === 126 || end.code === 127) {
      const unknown = /unable to find (user|group) [^\s:]+|no matching entries in (passwd|group) file/i.exec(end.stderr)
      const detail = unknown
        ? `Image ${image} has no user ${user}, which MCP_BRIDGE_CONTAINER_USER sets: ${unknown[0]}`
        : explainNoContainer(command, image, end.stderr)
      return { reason: 'failed-to-start', detail }
    }
    const explained = explainEnd(end)
    if (explained.reason !== 'exited') return explained
    // Its first process was never Python: the runtime says why.
    const detail = /exec format error/i.test(end.stderr)
      ? explainNoContainer(command, image, end.stderr)
      : `Python in image ${image} did not start: ${whyNoKernel(end.stderr)}`
    return { reason: 'failed-to-start', detail }
  }

  /** The image or the engine may have changed, so the next start prepares again. */
  async #explainEngine({ spoke, stderr }: ProcessEnd, command: EngineName): Promise<Explained> {
    this.#prepared.forget()
    if (spoke) return { reason: 'engine-gone', detail: stderr }
    const { engine, verdict } = await probeEngine(this.name)
    if (!engine) return { reason: 'engine-gone', detail: `${verdict}.` }
    const { cpus, image } = this.#options
    const refused =
      cpus === undefined ? undefined : stderr.split('\n').find((line) => /\bcpus?\b|cpu\.(cfs|max)/i.test(line))
    const detail =
      refused === undefined
        ? explainNoContainer(command, image, stderr)
        : `${command} could not create a container with MCP_BRIDGE_CPUS=${cpus}: ${refused}`
    return { reason: 'failed-to-start', detail }
  }
}

/** Returns undefined if the engine's process ids belong to another machine, such as its virtual machine. */
async function containerPid(engine: string, name: string): Promise<number | undefined> {
  if (process.platform !== 'linux') return undefined
  const format = '{{.State.Pid}} {{.Id}}'
  const { code, stdout } = await runCommand(engine, ['inspect', '--format', format, name], { timeoutMs: 10_000 })
  const [, pid, id] = /^([1-9]\d*) ([0-9a-f]{12,})/.exec(stdout) ?? []
  if (code !== 0 || pid === undefined || id === undefined) return undefined
  const groups = await readFile(`/proc/${pid}/cgroup`, 'utf8').catch(() => '')
  return groups.includes(id) ? Number(pid) : undefined
}
