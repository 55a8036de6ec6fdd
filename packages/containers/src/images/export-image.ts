// Exports an image's files from an engine, as the archive of a container that never runs and is removed.
import { chmod, writeFile } from 'node:fs/promises'
import { BridgeError } from '@sandbridge/core/errors.ts'
import { runCommand } from '@sandbridge/core/util/process'
import { ensureImage, inspectImage, type Image } from '../image.ts'
import { newContainerName, ownerLabels, removeLeftovers } from '../owner.ts'
import type { EngineName } from '@sandbridge/core/parts'
import { probeEngine } from '../probe-engine.ts'
import { lastLine } from '@sandbridge/core/util/text'

const ENGINES = ['podman', 'docker'] as const
const EXPORT_TIMEOUT_MS = 10 * 60_000

/** An image, and the engine that has it. */
export interface EngineImage {
  engine: EngineName
  image: Image
}

/** Returns the image of this name from the first engine that has it. Pulls nothing. */
export async function findEngineImage(name: string): Promise<EngineImage | undefined> {
  const found = await Promise.all(ENGINES.map(async (engine) => ({ engine, image: await inspectImage(engine, name) })))
  return found.find((one): one is EngineImage => one.image !== undefined)
}

/** @throws BridgeError SANDBOX_ENGINE_MISSING without an engine, SANDBOX_IMAGE_MISSING if it cannot pull the image */
export async function pullEngineImage(name: string, onProgress: (message: string) => void): Promise<EngineImage> {
  const verdicts: string[] = []
  for (const command of ENGINES) {
    const { engine, verdict } = await probeEngine(command)
    if (engine) return { engine: command, image: await ensureImage(engine, name, onProgress) }
    verdicts.push(verdict)
  }
  throw new BridgeError('SANDBOX_ENGINE_MISSING', `No engine can fetch the image ${name}: ${verdicts.join('; ')}.`, {
    hint: 'Set MCP_BRIDGE_IMAGE to an archive or a folder, or install podman or docker for the first use of an image.',
  })
}

/**
 * Write the files of the image as a tar archive: to a file, since podman cannot write to every kind of pipe.
 * @param file a path that other users must not know
 * @throws BridgeError SANDBOX_START_FAILED if the engine fails
 */
export async function exportImage({ engine, image }: EngineImage, file: string): Promise<void> {
  void removeLeftovers({ command: engine }).catch(() => {})
  const name = newContainerName()
  const labels = Object.entries(ownerLabels(name)).flatMap(([key, value]) => ['--label', `${key}=${value}`])
  const options = ['--pull=never', '--network=none', '--entrypoint=python3', '--name', name, ...labels]
  const made = await runCommand(engine, ['create', ...options, image.id])
  if (made.code !== 0) throw failed(engine, made.stderr)
  try {
    await writeFile(file, '', { mode: 0o600 })
    // Root's podman may be a command that becomes another user.
    if (process.getuid?.() === 0) await chmod(file, 0o666)
    const exported = await runCommand(engine, ['export', '--output', file, name], { timeoutMs: EXPORT_TIMEOUT_MS })
    if (exported.code !== 0) throw failed(engine, exported.stderr)
  } finally {
    await runCommand(engine, ['rm', '--force', '--volumes', name])
  }
}

function failed(engine: EngineName, stderr: string): BridgeError {
  const reason = lastLine(stderr) ?? 'no reason given'
  return new BridgeError('SANDBOX_START_FAILED', `${engine} could not export the image: ${reason}`)
}
