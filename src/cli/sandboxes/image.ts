// `sandbridge image build`: builds the container images that cells run in.
import { loadSettings } from '../../config/settings/file/load-settings.ts'
import { BridgeError } from '../../errors.ts'
import { buildImage, IMAGE_VARIANTS, type ImageVariant } from '../../isolation/container/build-image.ts'
import { print, printJson, visible } from '../terminal/print.ts'

export async function imageBuild(variant: string, options: { json?: boolean } = {}): Promise<void> {
  if (!IMAGE_VARIANTS.includes(variant as ImageVariant)) {
    throw new BridgeError('TOOL_ARGUMENTS_INVALID', `Unknown image '${variant}'`, {
      hint: `There are: ${IMAGE_VARIANTS.join(', ')}`,
    })
  }
  const { runtime } = await loadSettings()
  const engine = runtime === 'podman' || runtime === 'docker' ? { engine: runtime } : {}
  const { engine: used, image } = await buildImage(variant as ImageVariant, {
    ...engine,
    onLine: options.json ? printAside : print,
  })
  if (options.json) return printJson({ engine: used, image })
  print(`\nBuilt with ${used}. Use it with MCP_BRIDGE_IMAGE=${image}`)
}

/** Prints the build's output to stderr when stdout belongs to a program. */
function printAside(line: string): void {
  process.stderr.write(`${visible(line)}\n`)
}
