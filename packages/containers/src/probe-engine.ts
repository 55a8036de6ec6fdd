// Checks whether an engine can be used, and describes the outcome. Starts nothing and changes nothing.
import { hostname, release } from 'node:os'
import type { EngineName } from '@sandbridge/core/parts'
import { type CommandResult, runCommand } from '@sandbridge/core/util/process'
import { fieldsOf, isRecord, itemsOf, parseJson } from '@sandbridge/core/util/json/json.ts'
import { lastLine, oneLine } from '@sandbridge/core/util/text'

/** A usable engine. */
export interface Engine {
  /** The engine's name, which is also its command. */
  command: EngineName
  /** The engine whose options it accepts: a command named docker may be podman. */
  dialect: EngineName
  version: string
  rootless: boolean
  /** For rootless podman: the user on its machine that it runs as. */
  hostUid?: number
  /** True if it reports that it runs on this machine, and not in a virtual machine. */
  isLocal: boolean
  /** True if the engine can enforce memory and process limits. Otherwise limits inside the container apply. */
  enforcesLimits: boolean
  /** True if the engine can limit CPUs. There is no limit inside as a replacement. */
  enforcesCpus: boolean
}

export interface EngineProbe {
  /** Missing if the engine cannot be used. */
  engine?: Engine
  /** One sentence: what was found, or what is wrong and what to do. */
  verdict: string
  /** The engine needs a virtual machine that is stopped; starting it may be enough. */
  stoppedMachine?: boolean
}

type RunCommand = (command: string, args: readonly string[]) => Promise<CommandResult>

/** Exit code of an engine's `run` itself; kernels never use it. */
export const EXIT_ENGINE = 125

const PROBE_TIMEOUT_MS = 15_000
const MAX_LINE_CHARS = 300

/**
 * Probe an engine. Tests replace `run` to simulate other machines.
 * @param inBackground the bridge's exit does not wait for it
 */
export async function probeEngine(
  command: EngineName,
  run: RunCommand = (name, args) => runCommand(name, args, { timeoutMs: PROBE_TIMEOUT_MS, inBackground }),
  inBackground = false,
): Promise<EngineProbe> {
  const result = await run(command, ['info', '--format', '{{json .}}'])
  if (result.missing) return { verdict: `${command} is not installed` }
  const info = engineJson(result.stdout)
  // Without a daemon, docker prints JSON with empty fields, and the reason on stderr.
  // Some wrappers, such as the one of WSL, say on stdout why they do not work.
  if (result.code !== 0 || !info) return unusable(command, result.stderr.trim() || result.stdout)
  if ('host' in info) return podmanVerdict(command, info)
  return dockerVerdict(command, info, result.stderr)
}

function podmanVerdict(command: EngineName, info: Json): EngineProbe {
  const host = fieldsOf(info['host'])
  const rootless = fieldsOf(host['security'])['rootless'] === true
  const controllers = Array.isArray(host['cgroupControllers']) ? host['cgroupControllers'] : []
  // As root, podman has every controller but lists none on cgroup v1.
  const enforcesLimits = !rootless || (controllers.includes('memory') && controllers.includes('pids'))
  const enforcesCpus = !rootless || controllers.includes('cpu')
  const version = text(fieldsOf(info['version'])['Version'])
  const hostUid = fieldsOf(itemsOf(fieldsOf(host['idMappings'])['uidmap'])[0])['host_id']
  const engine: Engine = {
    command,
    dialect: 'podman',
    version,
    rootless,
    ...(rootless && typeof hostUid === 'number' && { hostUid }),
    isLocal: host['serviceIsRemote'] !== true && isThisMachine(host['hostname'], host['kernel']),
    enforcesLimits,
    enforcesCpus,
  }
  return { engine, verdict: describe(engine) }
}

function dockerVerdict(command: EngineName, info: Json, stderr: string): EngineProbe {
  const version = text(info['ServerVersion'])
  if (version === '') return unusable(command, stderr || text(itemsOf(info['ServerErrors'])[0]))
  if (info['OSType'] === 'windows') {
    return { verdict: `${command} runs Windows containers; switch it to Linux containers` }
  }
  const rootless = itemsOf(info['SecurityOptions']).some((option) => text(option).includes('rootless'))
  const enforcesLimits = info['MemoryLimit'] === true && info['PidsLimit'] === true
  const enforcesCpus = info['CpuCfsQuota'] === true
  const isLocal = isThisMachine(info['Name'], info['KernelVersion'])
  const engine: Engine = { command, dialect: 'docker', version, rootless, isLocal, enforcesLimits, enforcesCpus }
  return { engine, verdict: describe(engine) }
}

function isThisMachine(name: unknown, kernel: unknown): boolean {
  return process.platform === 'linux' && name === hostname() && kernel === release()
}

function describe({ command, dialect, version, rootless, enforcesLimits, enforcesCpus }: Engine): string {
  const name = command === dialect ? command : `${command} (which is ${dialect})`
  const limits = enforcesLimits
    ? ''
    : '; it cannot enforce memory and process limits on this host, so they are enforced inside the sandbox'
  const cpus = enforcesCpus ? '' : '; it cannot limit CPUs, so MCP_BRIDGE_CPUS has no effect'
  return `${name} ${version}, ${rootless ? 'rootless' : 'rootful'}${limits}${cpus}`
}

function unusable(command: EngineName, stderr: string): EngineProbe {
  const reason = lastLine(stderr) ?? 'no output'
  for (const [says, verdict] of CAUSES) {
    const line = stderr.split('\n').find((one) => says.test(one))
    if (line) return { verdict: verdict(command, oneLine(line, MAX_LINE_CHARS)) }
  }
  if (/permission denied/i.test(stderr) && /socket|daemon|connect/i.test(stderr)) {
    return {
      verdict: `${command} is running, but this user has no permission for its socket; add the user to its group or use rootless podman`,
    }
  }
  if (
    /podman machine|vm is not running|machine .*not running/i.test(stderr) ||
    (command === 'podman' && isNoConnection(stderr))
  ) {
    return { verdict: `podman's machine is not running (${reason})`, stoppedMachine: true }
  }
  if (isNoConnection(stderr)) return { verdict: `${command} is installed, but its daemon is not running` }
  return { verdict: `${command} does not work: ${reason}` }
}

/** What engines say where the last line of their output does not name the cause, and what to do about it. */
const CAUSES: readonly [says: RegExp, verdict: (command: EngineName, line: string) => string][] = [
  [
    /in this WSL|WSL integration/i,
    (command) =>
      `${command} is not switched on for this distribution of WSL; do so in Docker Desktop's settings, under WSL integration`,
  ],
  [
    /x509|certificate/i,
    (command, line) =>
      `${command} and its daemon do not trust each other's certificate (${line}); check DOCKER_HOST and DOCKER_CERT_PATH`,
  ],
  [
    /newuidmap|newgidmap|uid_map|\/etc\/sub[ug]id/i,
    (command, line) =>
      `${command} may not map the ids of users (${line}); give this user a range in /etc/subuid and /etc/subgid, and newuidmap its rights: reinstall the package uidmap`,
  ],
  [
    /dial unix \/run\/.*podman\.sock/i,
    (_, line) =>
      `podman's service does not run (${line}); unset CONTAINER_HOST, or start it: systemctl --user start podman.socket`,
  ],
]

function isNoConnection(stderr: string): boolean {
  return /cannot connect|connection refused|error during connect|unable to connect|no such host|failed to connect/i.test(
    stderr,
  )
}

type Json = Record<string, unknown>

/** The object that an engine printed, or the first of its list: a wrapper of the engine may greet before it. */
export function engineJson(stdout: string): Json | undefined {
  const at = stdout.search(/^\s*[[{]/m)
  const [value]: unknown[] = [parseJson(at < 0 ? stdout : stdout.slice(at))].flat()
  return isRecord(value) ? value : undefined
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

/**
 * Converts a path for the engine: Podman on Windows reads the profile inside its machine, where drives are below /mnt.
 */
export function enginePath(file: string, engine: Engine, platform: NodeJS.Platform = process.platform): string {
  const drive = /^([A-Za-z]):[\\/](.*)$/s.exec(file)
  if (platform !== 'win32' || engine.dialect !== 'podman' || !drive) return file
  return `/mnt/${drive[1]!.toLowerCase()}/${drive[2]!.replaceAll('\\', '/')}`
}
