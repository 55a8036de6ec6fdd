// Sandboxes in bubblewrap with this machine's python3 or an unpacked image's: no engine, ready in milliseconds. Linux
// only. Memory and processes are limited by rlimits, the first process and, where the host allows it, a cgroup.
import { existsSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { randomBytes } from 'node:crypto'
import { BridgeError } from '@sandbridge/core/errors.ts'
import path from 'node:path'
import { SharedPreparation, StdioProcess } from '@sandbridge/core/isolation'
import type {
  Explained,
  MissingPackage,
  MountedFolder,
  ProcessEnd,
  Provider,
  Sandbox,
  SandboxLimits,
} from '@sandbridge/core/isolation'
import { CompiledKernels } from '@sandbridge/native/compiled-kernel.ts'
import {
  checkMemoryLimit,
  explainEnd,
  forkServerArguments,
  kernelEnvironment,
  loadNativeKernel,
  whyNoKernel,
} from '@sandbridge/native/native-kernel.ts'
import type { NativeKernel } from '@sandbridge/native/native-kernel.ts'
import { findPrograms } from '@sandbridge/core/util/process'
import { ensurePackageFolder, PACKAGES_TARGET, type Installer } from '@sandbridge/cell-packages/package-folder.ts'
import { Cgroup, findCgroupParent } from './cgroup.ts'
import { type Bubblewrap, bubblewrapArguments, runInside, systemCallFilter, writableFolders } from './bubblewrap.ts'
import { findHostSystem, findImageSystem, type FoundSystem, type InnerPython } from './find-system.ts'
import type { ForkServerOptions } from './fork-server.ts'
import { ForkServers } from './fork-servers.ts'
import { withNode } from './host-node.ts'
import { RememberedAnswers } from './remembered-answers.ts'
import { images } from '@sandbridge/native/choose/images-part.ts'
import { imageFiles, type SystemFiles } from './system-files.ts'

/** After the system call filter, which is on descriptor 3. */
const BELL = 4
const FORKS_EACH = 16

/** The outcome of `prepare`. */
interface Found extends FoundSystem {
  folders: MountedFolder[]
  /** Parent of the sandboxes' control groups, if there is one. */
  cgroupParent: Promise<string | undefined>
}

interface Command {
  command: string
  args: string[]
}

interface Start {
  id: string
  found: Found
  cgroup: Cgroup | undefined
  memoryBytes: number
}

export interface BubblewrapOptions {
  pidsCount: number
  /** The image whose Python runs: a name, a folder or an archive. Missing: this machine's Python. */
  image?: string | undefined
  /** A folder that cells can see. */
  mount?: MountedFolder | undefined
  /** Give cells a folder `/projects`. */
  projects?: boolean
  /** Give cells this machine's Node. Images bring their own. */
  node?: boolean
  /** Cells see the packages that are installed for this machine's Python. */
  hostPackages?: boolean
  /** Packages that cells can import. */
  packages?: readonly string[]
  /** Cache folder, kept between runs. */
  cacheDir?: string
  /** Fork sandboxes from a process that has loaded the kernel, if that works here. */
  forks?: boolean
  /** Number of sandboxes forked from one process before another replaces it. */
  forksEach?: number
  /** Called with the reason when sandboxes are not forked. */
  onNotForked?: (reason: string) => void
}

export class BubblewrapProvider implements Provider {
  readonly name = 'bubblewrap'
  missingPackages: readonly MissingPackage[] = []
  readonly #options: BubblewrapOptions
  readonly #compiled: CompiledKernels
  readonly #system = new SharedPreparation((onProgress) => this.#findSystem(onProgress))
  readonly #forkServers: ForkServers

  constructor(options: BubblewrapOptions) {
    this.#options = options
    this.#forkServers = new ForkServers(options.onNotForked)
    this.#compiled = new CompiledKernels(options.cacheDir && path.join(options.cacheDir, 'kernels'))
  }

  /** @throws BridgeError SANDBOX_ENGINE_MISSING if bubblewrap cannot be used here */
  async prepare(onProgress?: (message: string) => void): Promise<void> {
    const found = await this.#system.get(onProgress)
    try {
      if (this.#options.forks) this.#beginForks(found)
    } catch {
      // The first sandbox tries again, and starts without a fork server if needed.
    }
  }

  #beginForks(found: Found): void {
    this.#forkServers.begin(() => this.#forkServer(found))
  }

  /** Describes how sandboxes are started. */
  get startMethod(): string {
    const { reason } = this.#forkServers
    if (this.#options.forks && reason === undefined) return 'forked from one process'
    const because = reason === undefined ? '' : `, because none could be forked: ${reason}`
    return `each started with its own Python${because}`
  }

  /** @throws BridgeError as `prepare` does, CONFIG_INVALID for a memory limit that is too low for Python */
  async start(limits: SandboxLimits): Promise<Sandbox> {
    checkMemoryLimit(limits)
    const found = await this.#system.getGood((one) => this.#isThere(one))
    const cgroupParent = await found.cgroupParent
    const id = newId()
    const { memoryBytes } = limits
    const { pidsCount } = this.#options
    const cgroup =
      cgroupParent === undefined ? undefined : await Cgroup.make(cgroupParent, id, { memoryBytes, pidsCount })
    const start: Start = { id, found, cgroup, memoryBytes }
    const forked = this.#options.forks ? await this.#fork(start) : undefined
    const sandbox = forked ?? this.#spawn(start)
    if (cgroup) void sandbox.exited.then(() => cgroup.remove())
    return sandbox
  }

  /** The cache may be deleted at any time. */
  #isThere({ system, folders }: Found): boolean {
    const { cacheDir } = this.#options
    if (!cacheDir) return true
    const places = [...system.binds, ...folders.map(({ source }) => source)].filter((one) => one.startsWith(cacheDir))
    return places.every((place) => existsSync(place))
  }

  #fork({ id, found, cgroup, memoryBytes }: Start): Promise<Sandbox | undefined> {
    const { projects = false, pidsCount } = this.#options
    const folders = writableFolders(projects).map(([folder, mebibytes]) => `${folder}:${mebibytes}`)
    return this.#forkServers.fork(() => this.#forkServer(found), {
      id,
      words: `memoryBytes=${memoryBytes} pids=${pidsCount} folders=${folders.join(',')}`,
      explain: explainer(cgroup),
      enter: cgroup && ((pid) => cgroup.add(pid)),
    })
  }

  #forkServer(found: Found): ForkServerOptions {
    const { forksEach: slotCount = FORKS_EACH } = this.#options
    const preamble = (): Buffer => {
      const [kernel, compiled] = this.#kernel(found)
      return kernel.forkServerPreamble({ compiled, filter: systemCallFilter() })
    }
    const args = forkServerArguments({ id: `${newId()}-forks`, slotCount })
    return { ...this.#command(found, args, true), preamble, slotCount }
  }

  /** Returns the kernel, with its bytecode if that was compiled before. */
  #kernel({ bubblewrap, system, python }: Found): [NativeKernel, Buffer | undefined] {
    const kernel = loadNativeKernel()
    const compiled = this.#compiled.find(kernel, `${system.id} ${python.version}`, (args, input) =>
      runInside(bubblewrap, system, args, input),
    )
    return [kernel, compiled]
  }

  #spawn({ id, found, cgroup, memoryBytes }: Start): Sandbox {
    const { pidsCount } = this.#options
    const [kernel, compiled] = this.#kernel(found)
    const { args, preamble } = kernel.start({ id, memoryBytes, pidsCount, compiled, bell: BELL })
    const command = this.#command(found, args, false)
    return new StdioProcess({
      id,
      provider: 'bubblewrap',
      ...(cgroup ? cgroup.command(command) : command),
      preamble,
      extraInputs: [systemCallFilter()],
      bell: true,
      explain: explainer(cgroup),
    })
  }

  /** Returns the command for Python in bubblewrap: either a sandbox or a fork server. */
  #command({ bubblewrap, system, folders }: Found, args: readonly string[], forks: boolean): Command {
    const environment = { ...system.environment, ...kernelEnvironment(Math.min(4, availableParallelism())) }
    const { projects = false } = this.#options
    const walls = bubblewrapArguments(system, { environment, seccomp: !forks, forks, folders, projects })
    return { command: bubblewrap.command, args: [...bubblewrap.before, ...walls, '--', system.python, ...args] }
  }

  async #findSystem(onProgress: (message: string) => void): Promise<Found> {
    const { forks, cacheDir = '' } = this.#options
    // That of an earlier system would go on without what was deleted.
    this.#forkServers.renew()
    // Without a fork server, nothing would detect in time that a remembered answer has become wrong.
    if (!forks || cacheDir === '') return this.#search(onProgress)
    const answers = new RememberedAnswers(cacheDir)
    const found = await this.#search(onProgress, answers)
    if (!found.isRemembered || (await this.#canBeginForks(found))) return found
    answers.forget()
    return this.#search(onProgress, answers)
  }

  /** Tells whether the fork server starts. It is needed next, so this test costs no time. */
  async #canBeginForks(found: Found): Promise<boolean> {
    try {
      this.#beginForks(found)
      return await this.#forkServers.isUp()
    } catch {
      return false
    }
  }

  async #search(onProgress: (message: string) => void, answers?: RememberedAnswers): Promise<Found> {
    const { mount, packages = [], cacheDir = '', image, hostPackages } = this.#options
    const targets = [...(mount ? [mount.target] : []), ...(packages.length > 0 ? [PACKAGES_TARGET] : [])]
    const { found, verdict } =
      image === undefined
        ? await findHostSystem(answers, hostPackages)
        : await findImageSystem(image, async () => {
            const { openRoot } = await images.for('MCP_BRIDGE_IMAGE')
            return imageFiles(await openRoot(image, cacheDir, onProgress), targets)
          })
    if (!found) throw new BridgeError('SANDBOX_ENGINE_MISSING', `No sandbox can start: ${verdict}.`)
    const { bubblewrap, python, isRemembered } = found
    const system =
      this.#options.node && image === undefined
        ? await withNode(found.system, (tried, program) => runs(bubblewrap, tried, program))
        : found.system
    const folders = mount ? [mount] : []
    if (packages.length > 0) {
      const installer = image === undefined ? { python: system.python } : await installerFor(python)
      const { folder, missing } = await ensurePackageFolder(packages, cacheDir, installer, onProgress)
      this.missingPackages = missing
      if (folder !== undefined) folders.push({ source: folder, target: PACKAGES_TARGET, mode: 'ro' })
    }
    return { bubblewrap, python, isRemembered, system, folders, cgroupParent: findCgroupParent() }
  }
}

const newId = (): string => `sandbridge-${process.pid}-${randomBytes(6).toString('hex')}`

async function runs(bubblewrap: Bubblewrap, system: SystemFiles, program: string): Promise<boolean> {
  const code = 'import subprocess, sys; sys.exit(subprocess.call([sys.argv[1], "--version"]))'
  return (await runInside(bubblewrap, system, ['-I', '-c', code, program])).code === 0
}

/** Returns this machine's pip: one from an image would need network access in its sandbox. */
async function installerFor({ version, platform }: InnerPython): Promise<Installer> {
  const [python = 'python3'] = findPrograms('python3')
  return { python, target: { version, isMusl: platform.includes('musl') } }
}

function explainer(cgroup: Cgroup | undefined): (end: ProcessEnd) => Promise<Explained> {
  return async (end) =>
    (await cgroup?.wasOutOfMemory()) ? { reason: 'out-of-memory', detail: end.stderr } : explain(end)
}

function explain(end: ProcessEnd): Explained {
  const explained = explainEnd(end)
  if (end.spoke || explained.reason !== 'exited') return explained
  return { reason: 'failed-to-start', detail: `Python in bubblewrap did not start: ${whyNoKernel(end.stderr)}` }
}
