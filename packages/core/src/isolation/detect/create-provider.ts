// Makes a provider with what the settings say of it. Loads only that one's code.
import path from 'node:path'
import { BridgeError } from '../../errors.ts'
import type { Settings } from '../../config/settings/settings.ts'
import type { Log } from '../../util/log.ts'
import { bubblewrap } from './bubblewrap-part.ts'
import { containers } from './container-part.ts'
import { isImagePath } from '../image-name.ts'
import { images } from '../images-part.ts'
import { AS_PODS, kubernetes } from './kubernetes-part.ts'
import type { MountedFolder } from '../local/mounted-folder.ts'
import { isRealRoot } from '../local/real-root.ts'
import { pythonPackages } from '../packages-part.ts'
import type { Provider, ProviderName } from '../provider.ts'
import type { OuterLayer } from '../pyodide/outer-bubblewrap.ts'

/** Makes the provider of this name. It prepares nothing yet. @throws BridgeError CONFIG_INVALID */
export async function createProvider(
  name: ProviderName,
  settings: Settings,
  mount: MountedFolder | undefined,
  log: Log,
): Promise<Provider> {
  const { packages } = settings
  if (name === 'pyodide') {
    if (mount) {
      throw new BridgeError('CONFIG_INVALID', 'The embedded sandbox does not support MCP_BRIDGE_MOUNT', {
        hint: 'Unset MCP_BRIDGE_MOUNT, or use podman, docker or bubblewrap.',
      })
    }
    const { PyodideProvider } = await import('../pyodide/provider.ts')
    const cacheFolder = pyodideFolder(settings)
    const onLayer = (layer: OuterLayer): void => {
      if (refusesOpenRoot(settings, layer)) throw openRoot(layer)
      // What `doctor` says of namespaces frightens in a log.
      if (process.platform === 'linux' && layer.wall === 'none')
        log.warning('The embedded sandbox is weaker than it could be', { verdict: layer.verdict })
    }
    if (packages.length === 0) return new PyodideProvider({ cacheFolder, onLayer })
    const { packageFiles } = await pythonPackages.for('MCP_BRIDGE_PACKAGES')
    return new PyodideProvider({
      cacheFolder,
      onLayer,
      packages: (onProgress) => packageFiles(packages, cacheFolder, settings.pyodideUrl, onProgress),
    })
  }
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

/** `auto` gives root no sandbox with WebAssembly as its only wall. A user who names the sandbox has accepted that. */
export function refusesOpenRoot({ runtime }: Pick<Settings, 'runtime'>, { wall }: OuterLayer): boolean {
  return runtime === 'auto' && wall === 'none' && process.platform === 'linux' && isRealRoot()
}

function openRoot({ verdict }: OuterLayer): BridgeError {
  return new BridgeError(
    'SANDBOX_START_FAILED',
    `The bridge runs as root, and the embedded sandbox is open: ${verdict}`,
    {
      hint: 'Run the bridge as another user, fix bubblewrap, or accept it with MCP_BRIDGE_RUNTIME=pyodide.',
    },
  )
}

/** Where the embedded sandbox keeps what it makes of the installed package. */
export const pyodideFolder = ({ cacheDir }: Pick<Settings, 'cacheDir'>): string => path.join(cacheDir, 'pyodide')

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
