// Sandboxes out of this machine's own python3, in bubblewrap: no engine, no image, and up in milliseconds. Linux only.
// There is no cgroup: memory and processes are limited by rlimits, and watched by the sandbox's first process.
import { arch, availableParallelism } from 'node:os'
import { randomBytes } from 'node:crypto'
import { BridgeError } from '../../errors.ts'
import path from 'node:path'
import { CompiledKernels } from '../compiled-kernel.ts'
import { checkMemoryLimit, explainEnd, kernelEnvironment, loadNativeKernel } from '../native-kernel.ts'
import type { Provider, Sandbox, SandboxLimits } from '../provider.ts'
import { runCommand } from '../../process/run-command.ts'
import { StdioProcess } from '../stdio-process.ts'
import type { Explained, ProcessEnd } from '../stdio-process.ts'
import type { MountedFolder } from '../mounted-folder.ts'
import { ensurePackageFolder, PACKAGES_TARGET } from '../packages/package-folder.ts'
import { bubblewrapArguments, probeBubblewrap } from './bubblewrap.ts'
import type { Bubblewrap } from './bubblewrap.ts'
import { seccompFilter } from '../seccomp-filter.ts'

export interface BubblewrapOptions {
  pidsCount: number
  /** A folder that cells see. */
  mount?: MountedFolder | undefined
  /** Give cells a folder `/projects`. */
  projects?: boolean
  /** Packages that cells can import. */
  packages?: readonly string[]
  /** Where what is made is kept between runs. */
  cacheDir?: string
}

/** Behind the system call filter, which is on descriptor 3. */
const BELL = 4

interface Found {
  bubblewrap: Bubblewrap
  folders: MountedFolder[]
}

export class BubblewrapProvider implements Provider {
  readonly name = 'bubblewrap'
  readonly #options: BubblewrapOptions
  readonly #compiled: CompiledKernels
  #found: Promise<Found> | undefined

  constructor(options: BubblewrapOptions) {
    this.#options = options
    this.#compiled = new CompiledKernels(options.cacheDir && path.join(options.cacheDir, 'kernels'))
  }

  /** @throws BridgeError SANDBOX_ENGINE_MISSING when bubblewrap cannot be used here */
  async prepare(onProgress?: (message: string) => void): Promise<void> {
    await this.#find(onProgress)
  }

  /** @throws BridgeError what `prepare` throws, CONFIG_INVALID for a memory limit that no Python fits in */
  async start(limits: SandboxLimits): Promise<Sandbox> {
    checkMemoryLimit(limits)
    const [{ bubblewrap, folders }, kernel] = await Promise.all([this.#find(), loadNativeKernel()])
    const { executable } = bubblewrap.python
    const compiled = await this.#compiled.find(kernel, executable, (args, input) =>
      runCommand(executable, args, { input }),
    )
    const environment = {
      PATH: '/usr/local/bin:/usr/bin:/bin',
      ...kernelEnvironment(Math.min(4, availableParallelism())),
    }
    const { projects = false } = this.#options
    const id = `sandbridge-${process.pid}-${randomBytes(6).toString('hex')}`
    const { memoryBytes } = limits
    const { args, preamble } = kernel.start({
      id,
      memoryBytes,
      pidsCount: this.#options.pidsCount,
      compiled,
      bell: BELL,
    })
    return new StdioProcess({
      id,
      provider: 'bubblewrap',
      command: bubblewrap.command,
      args: [
        ...bubblewrap.before,
        ...bubblewrapArguments(bubblewrap, { environment, seccomp: true, folders, projects }),
        '--',
        executable,
        ...args,
      ],
      preamble,
      extraInputs: [seccompFilter(arch() === 'arm64' ? 'arm64' : 'x64', false)],
      bell: true,
      explain,
    })
  }

  #find(onProgress?: (message: string) => void): Promise<Found> {
    this.#found ??= probeBubblewrap()
      .then(({ bubblewrap, verdict }) => {
        if (bubblewrap) return this.#withFolders(bubblewrap, onProgress)
        throw new BridgeError('SANDBOX_ENGINE_MISSING', `No sandbox can start: ${verdict}.`)
      })
      .catch((error: unknown) => {
        this.#found = undefined
        throw error
      })
    return this.#found
  }

  async #withFolders(bubblewrap: Bubblewrap, onProgress?: (message: string) => void): Promise<Found> {
    const { mount, packages = [], cacheDir = '' } = this.#options
    const folders = mount ? [mount] : []
    if (packages.length > 0) {
      const source = await ensurePackageFolder(packages, cacheDir, bubblewrap.python.executable, onProgress)
      folders.push({ source, target: PACKAGES_TARGET, mode: 'ro' })
    }
    return { bubblewrap, folders }
  }
}

function explain(end: ProcessEnd): Explained {
  const explained = explainEnd(end)
  if (end.spoke || explained.reason !== 'exited') return explained
  return { reason: 'failed-to-start', detail: `Python in bubblewrap did not start: ${end.stderr}` }
}
