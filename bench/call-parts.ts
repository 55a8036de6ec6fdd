// Identifies the processes that take part in a tool call, to measure each one's share.
import { execFileSync } from 'node:child_process'
import type { ProviderName } from '../packages/core/src/isolation/provider.ts'
import type { TestBridge } from '@sandbridge/core/test/support/bridges/bridge-process.ts'
import { runningProcesses } from '@sandbridge/core/test/support/machine/processes.ts'
import { treeOf } from './cpu.ts'

export type Part = 'bridge' | 'kernel' | 'upstream' | 'engine'

/** The processes of a bridge with one sandbox and the server "everything", by their part in a call. */
export function callParts(bridge: TestBridge, engine: ProviderName): Record<Part, number[]> {
  const all = runningProcesses()
  const command = new Map(all.map((process) => [process.pid, process.command]))
  const below = treeOf(bridge.pid, all).slice(1)
  const isUpstream = (pid: number) => command.get(pid)?.includes('server-everything') === true
  const upstream = below.filter(isUpstream)
  const rest = below.filter((pid) => !isUpstream(pid))
  if (engine !== 'podman' && engine !== 'docker') return { bridge: [bridge.pid], kernel: rest, upstream, engine: [] }
  // The engine's command for another sandbox may be about to make its container.
  const made = new Set(execFileSync(engine, ['ps', '--format', '{{.Names}}'], { encoding: 'utf8' }).split('\n'))
  const names = rest
    .flatMap((pid) => /--name[= ](\S+)/.exec(command.get(pid) ?? '')?.[1] ?? [])
    .filter((name) => made.has(name))
  const inspected = (name: string, field: string) =>
    execFileSync(engine, ['inspect', '--format', field, name], { encoding: 'utf8' }).trim()
  const kernel = names.flatMap((name) => treeOf(Number(inspected(name, '{{.State.Pid}}')), all))
  const ids = names.flatMap((name) => [name, inspected(name, '{{.Id}}')])
  const helpers = all.filter(
    ({ pid, command: line }) =>
      !kernel.includes(pid) &&
      (ids.some((id) => line.includes(id)) || (engine === 'docker' && /^\S*(?:dockerd|containerd) /.test(line))),
  )
  const others = [...new Set([...rest, ...helpers.map(({ pid }) => pid)])].filter((pid) => !kernel.includes(pid))
  return { bridge: [bridge.pid], kernel, upstream, engine: others }
}
