// Finds the process id of a container's first process on this machine.
import { readFile } from 'node:fs/promises'
import { runCommand } from '../../util/process/run-command.ts'

/** Returns undefined if the engine's process ids belong to another machine, such as its virtual machine. */
export async function containerPid(engine: string, name: string): Promise<number | undefined> {
  if (process.platform !== 'linux') return undefined
  const format = '{{.State.Pid}} {{.Id}}'
  const { code, stdout } = await runCommand(engine, ['inspect', '--format', format, name], { timeoutMs: 10_000 })
  const [, pid, id] = /^([1-9]\d*) ([0-9a-f]{12,})/.exec(stdout) ?? []
  if (code !== 0 || pid === undefined || id === undefined) return undefined
  const groups = await readFile(`/proc/${pid}/cgroup`, 'utf8').catch(() => '')
  return groups.includes(id) ? Number(pid) : undefined
}
