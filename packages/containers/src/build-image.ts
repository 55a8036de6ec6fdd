// Builds the package's own images with the user's engine.
import path from 'node:path'
import { BridgeError } from '@sandbridge/core/errors.ts'
import { PACKAGE_ROOT } from '@sandbridge/core/util'
import { runCommand } from '@sandbridge/core/util/process'
import { probeEngine } from './probe-engine.ts'
import type { BuildOptions, EngineName } from '@sandbridge/core/parts'
import { lastLine } from '@sandbridge/core/util/text'

const VARIANTS = ['slim', 'data', 'node']

const BUILD_TIMEOUT_MS = 60 * 60_000

/**
 * Build an image and tag it.
 * @returns the engine that holds it, and the name for MCP_BRIDGE_IMAGE
 * @throws BridgeError TOOL_ARGUMENTS_INVALID, SANDBOX_ENGINE_MISSING, SANDBOX_IMAGE_MISSING if the build fails
 */
export async function buildImage(
  variant: string,
  options: BuildOptions = {},
): Promise<{ engine: EngineName; image: string }> {
  if (!VARIANTS.includes(variant)) {
    throw new BridgeError('TOOL_ARGUMENTS_INVALID', `Unknown image '${variant}'`, {
      hint: `There are: ${VARIANTS.join(', ')}`,
    })
  }
  const engine = await usableEngine(options.engine ? [options.engine] : ['podman', 'docker'])
  const image = `localhost/sandbridge-${variant}:latest`
  const folder = path.join(PACKAGE_ROOT, 'packages/containers/images')
  const named = Object.entries({ BASE: options.base, NODE: options.node })
  const words = named.flatMap(([name, value]) => (value === undefined ? [] : ['--build-arg', `${name}=${value}`]))
  const args = ['build', '--file', path.join(folder, `Containerfile.${variant}`), '--tag', image, ...words, folder]
  const { code, stderr } = await runCommand(engine, args, {
    timeoutMs: BUILD_TIMEOUT_MS,
    ...(options.onLine && { onLine: options.onLine }),
  })
  if (code === 0) return { engine, image }
  const reason = lastLine(stderr) ?? 'no reason given'
  throw new BridgeError('SANDBOX_IMAGE_MISSING', `${engine} could not build ${image}: ${reason}`, {
    hint: 'The build needs a registry for the base image, and a package index for `data`. packages/containers/images/from-debian.sh needs neither.',
  })
}

async function usableEngine(names: readonly EngineName[]): Promise<EngineName> {
  const verdicts: string[] = []
  for (const name of names) {
    const { engine, verdict } = await probeEngine(name)
    if (engine) return engine.command
    verdicts.push(verdict)
  }
  throw new BridgeError('SANDBOX_ENGINE_MISSING', `No engine can build an image: ${verdicts.join('; ')}.`, {
    hint: 'Install podman or docker.',
  })
}
