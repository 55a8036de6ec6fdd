// Makes a provider with what the settings say of it. Loads only that one's code.
import type { Settings } from '@sandbridge/core/config/settings'
import { BridgeError } from '@sandbridge/core/errors.ts'
import type { MountedFolder, Provider, ProviderName } from '@sandbridge/core/isolation'
import { createEmbedded } from '@sandbridge/core/isolation/detect'
import { AS_PODS, containers, kubernetes } from '@sandbridge/core/parts'
import type { Log } from '@sandbridge/core/util'
import { bubblewrap } from './bubblewrap-part.ts'
import { isImagePath } from './image-name.ts'
import { images } from './images-part.ts'

/** Makes the provider of this name. It prepares nothing yet. @throws BridgeError CONFIG_INVALID */
export async function createProvider(
  name: ProviderName,
  settings: Settings,
  mount: MountedFolder | undefined,
  log: Log,
): Promise<Provider> {
  if (name === 'pyodide') return createEmbedded(settings, log)
  if (name === 'kubernetes') return (await kubernetes.for(AS_PODS)).createProvider(settings, mount)
  if (name === 'bubblewrap') {
    const { createProvider: create } = await bubblewrap.for('MCP_BRIDGE_RUNTIME=bubblewrap')
    return create(settings, await imageInBubblewrap(settings), mount, log)
  }
  if (settings.image !== undefined && isImagePath(settings.image)) {
    throw new BridgeError('CONFIG_INVALID', `${name} cannot use a folder or an archive: ${settings.image}`, {
      hint: `Set MCP_BRIDGE_RUNTIME=bubblewrap, or give an archive to \`${name} load\` and set MCP_BRIDGE_IMAGE to the name it says.`,
    })
  }
  return (await containers.for(`MCP_BRIDGE_RUNTIME=${name}`)).createProvider(name, settings, mount)
}

/**
 * Returns the image for bubblewrap; undefined: this machine's Python. `auto` uses a named image only if it is already
 * unpacked, since it reaches bubblewrap when no engine is usable.
 */
export async function imageInBubblewrap({
  image,
  runtime,
  cacheDir,
}: Pick<Settings, 'image' | 'runtime' | 'cacheDir'>): Promise<string | undefined> {
  if (image === undefined || runtime !== 'auto' || isImagePath(image)) return image
  if (!images.isHere) return undefined
  const { isUnpacked } = await images.for('MCP_BRIDGE_IMAGE')
  return (await isUnpacked(image, cacheDir)) ? image : undefined
}
