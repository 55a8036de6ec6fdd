// Sandboxes in bubblewrap, out of this machine's own python3 or that of an unpacked image: no engine, and up in milliseconds. Linux only.
// Memory and processes are limited by rlimits, and watched by the sandbox's first process; where the host lets us, by a cgroup, too.
import { availableParallelism } from 'node:os'
import { randomBytes } from 'node:crypto'
import { BridgeError } from '../../errors.ts'
import path from 'node:path'
import { CompiledKernels } from '../compiled-kernel.ts'
import { checkMemoryLimit, explainEnd, kernelEnvironment, loadNativeKernel } from '../native-kernel.ts'
import type { Provider, Sandbox, SandboxLimits } from '../provider.ts'
import { findPrograms } from '../../process/find-program.ts'
import { SharedPreparation } from '../shared-preparation.ts'
import { StdioProcess } from '../stdio-process.ts'
import type { Explained, ProcessEnd } from '../stdio-process.ts'
import type { MountedFolder } from '../mounted-folder.ts'
import { ensurePackageFolder, PACKAGES_TARGET, type Installer } from '../packages/package-folder.ts'
import { Cgroup, findCgroupParent } from './cgroup.ts'
import { type Bubblewrap, bubblewrapArguments, runInside, systemCallFilter } from './bubblewrap.ts'
import { findHostSystem, findImageSystem, type FoundSystem, type InnerPython } from './find-system.ts'
import { withNode } from './host-node.ts'
import { imageFiles, type SystemFiles } from './system-files.ts'

export interface BubblewrapOptions {
  pidsCount: number
  /** The image whose Python is run: its name, a folder or an archive. Missing means the Python of this machine. */
  image?: string | undefined
  /** A folder that cells see. */
  mount?: MountedFolder | undefined
  /** Give cells a folder `/projects`. */
  projects?: boolean
  /** Give cells the Node of this machine. An image has its own. */
  node?: boolean
  /** Packages that cells can import. */
  packages?: readonly string[]
  /** Where what is made is kept between runs. */
  cacheDir?: string
}

/** Behind the system call filter, which is on descriptor 3. */
const BELL = 4

/** What `prepare` finds out. */
interface Found extends FoundSystem {
  folders: MountedFolder[]
  /** Where sandboxes get control groups of their own. */
  cgroupParent: string | undefined
}

export class BubblewrapProvider implements Provider {
  readonly name = 'bubblewrap'
  readonly #options: BubblewrapOptions
  readonly #compiled: CompiledKernels
  readonly #system = new SharedPreparation((onProgress) => this.#findSystem(onProgress))

  constructor(options: BubblewrapOptions) {
    this.#options = options
    this.#compiled = new CompiledKernels(options.cacheDir && path.join(options.cacheDir, 'kernels'))
  }

  /** @throws BridgeError SANDBOX_ENGINE_MISSING when bubblewrap cannot be used here */
  async prepare(onProgress?: (message: string) => void): Promise<void> {
    await this.#system.get(onProgress)
  }

  /** @throws BridgeError what `prepare` throws, CONFIG_INVALID for a memory limit that no Python fits in */
  async start(limits: SandboxLimits): Promise<Sandbox> {
    checkMemoryLimit(limits)
    const [{ bubblewrap, system, python, folders, cgroupParent }, kernel] = await Promise.all([
      this.#system.get(),
      loadNativeKernel(),
    ])
    const compiled = await this.#compiled.find(kernel, `${system.id} ${python.version}`, (args, input) =>
      runInside(bubblewrap, system, args, input),
    )
    const environment = { ...system.environment, ...kernelEnvironment(Math.min(4, availableParallelism())) }
    const { projects = false } = this.#options
    const id = `sandbridge-${process.pid}-${randomBytes(6).toString('hex')}`
    const { memoryBytes } = limits
    const { pidsCount } = this.#options
    const { args, preamble } = kernel.start({
      id,
      memoryBytes,
      pidsCount,
      compiled,
      bell: BELL,
    })
    const command = {
      command: bubblewrap.command,
      args: [
        ...bubblewrap.before,
        ...bubblewrapArguments(system, { environment, seccomp: true, folders, projects }),
        '--',
        system.python,
        ...args,
      ],
    }
    const cgroup =
      cgroupParent === undefined ? undefined : await Cgroup.make(cgroupParent, id, { memoryBytes, pidsCount })
    const sandbox = new StdioProcess({
      id,
      provider: 'bubblewrap',
      ...(cgroup ? cgroup.command(command) : command),
      preamble,
      extraInputs: [systemCallFilter()],
      bell: true,
      explain: async (end) =>
        (await cgroup?.wasOutOfMemory()) ? { reason: 'out-of-memory', detail: end.stderr } : explain(end),
    })
    if (cgroup) void sandbox.exited.then(() => cgroup.remove())
    return sandbox
  }

  async #findSystem(onProgress: (message: string) => void): Promise<Found> {
    const { mount, packages = [], cacheDir = '', image } = this.#options
    const targets = [...(mount ? [mount.target] : []), ...(packages.length > 0 ? [PACKAGES_TARGET] : [])]
    const { found, verdict } =
      image === undefined
        ? await findHostSystem()
        : await findImageSystem(image, async () => {
            const { openRoot } = await import('../rootfs/open-root.ts')
            return imageFiles(await openRoot(image, cacheDir, onProgress), targets)
          })
    if (!found) throw new BridgeError('SANDBOX_ENGINE_MISSING', `No sandbox can start: ${verdict}.`)
    const { bubblewrap, python } = found
    const system =
      this.#options.node && image === undefined
        ? await withNode(found.system, (tried, program) => runs(bubblewrap, tried, program))
        : found.system
    const folders = mount ? [mount] : []
    if (packages.length > 0) {
      const installer = image === undefined ? { python: system.python } : await installerFor(python)
      const source = await ensurePackageFolder(packages, cacheDir, installer, onProgress)
      folders.push({ source, target: PACKAGES_TARGET, mode: 'ro' })
    }
    return { bubblewrap, python, system, folders, cgroupParent: await findCgroupParent() }
  }
}

async function runs(bubblewrap: Bubblewrap, system: SystemFiles, program: string): Promise<boolean> {
  const code = 'import subprocess, sys; sys.exit(subprocess.call([sys.argv[1], "--version"]))'
  return (await runInside(bubblewrap, system, ['-I', '-c', code, program])).code === 0
}

/** The pip of this machine: one of an image would need a network in its sandbox. */
async function installerFor({ version, platform }: InnerPython): Promise<Installer> {
  const [python = 'python3'] = await findPrograms('python3')
  return { python, target: { version, isMusl: platform.includes('musl') } }
}

function explain(end: ProcessEnd): Explained {
  const explained = explainEnd(end)
  if (end.spoke || explained.reason !== 'exited') return explained
  return { reason: 'failed-to-start', detail: `Python in bubblewrap did not start: ${end.stderr}` }
}
