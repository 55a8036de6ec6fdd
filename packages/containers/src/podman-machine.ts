// Starts a stopped virtual machine of Podman on macOS and Windows. Never creates, changes or removes one.
import { BridgeError } from '@sandbridge/core/errors.ts'
import { type CommandResult, runCommand } from '@sandbridge/core/util/process'
import { parseJson } from '@sandbridge/core/util/json/json.ts'

type RunCommand = (command: string, args: readonly string[], options?: { timeoutMs?: number }) => Promise<CommandResult>

const START_TIMEOUT_MS = 180_000

/**
 * Start the user's default machine, or their only one.
 * @throws BridgeError SANDBOX_ENGINE_MISSING if there is none, or it does not start
 */
export async function startPodmanMachine(
  onProgress: (message: string) => void = () => {},
  run: RunCommand = runCommand,
): Promise<void> {
  const machines = parseMachines((await run('podman', ['machine', 'list', '--format', 'json'])).stdout)
  const machine = machines.find(({ Default }) => Default) ?? machines[0]
  const name = machine?.Name?.replace(/\*$/, '')
  if (!machine || !name) {
    throw new BridgeError('SANDBOX_ENGINE_MISSING', 'Podman has no virtual machine.', {
      hint: 'Run `podman machine init` and `podman machine start`, or set MCP_BRIDGE_RUNTIME=pyodide.',
    })
  }
  if (machine.Running) return
  onProgress(`Starting Podman's machine ${name}`)
  const { code, stderr } = await run('podman', ['machine', 'start', name], { timeoutMs: START_TIMEOUT_MS })
  if (code !== 0) {
    throw new BridgeError(
      'SANDBOX_ENGINE_MISSING',
      `Podman's machine ${name} failed to start: ${stderr || 'no output'}`,
      {
        hint: `Try \`podman machine start ${name}\` yourself, or set MCP_BRIDGE_RUNTIME=pyodide.`,
      },
    )
  }
}

function parseMachines(json: string): { Name?: string; Default?: boolean; Running?: boolean }[] {
  const value = parseJson(json)
  return Array.isArray(value) ? value : []
}
