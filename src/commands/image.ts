// `sandbridge image build`: makes the container images that cells run in.
import { readSettings } from '../config/settings.ts'
import { BridgeError } from '../errors.ts'
import { buildImage, IMAGE_VARIANTS, type ImageVariant } from '../sandbox/container/build-image.ts'
import { print } from './print.ts'

export async function imageBuild(variant: string): Promise<void> {
  if (!IMAGE_VARIANTS.includes(variant as ImageVariant)) {
    throw new BridgeError('TOOL_ARGUMENTS_INVALID', `Unknown image '${variant}'`, {
      hint: `There are: ${IMAGE_VARIANTS.join(', ')}`,
    })
  }
  const { runtime } = readSettings(process.env)
  const engine = runtime === 'podman' || runtime === 'docker' ? { engine: runtime } : {}
  const { engine: used, image } = await buildImage(variant as ImageVariant, { ...engine, onLine: print })
  print(`\nBuilt with ${used}. Use it with MCP_BRIDGE_IMAGE=${image}`)
}
