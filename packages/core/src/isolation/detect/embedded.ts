// Makes the embedded sandbox's provider with what the settings say of it. Loads its code at first use.
import { chmod, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import type { Settings } from '../../config/settings/settings.ts'
import { BridgeError } from '../../errors.ts'
import type { Log } from '../../util/log.ts'
import { isRealRoot } from '../local/real-root.ts'
import { makeTemporaryFolder } from '../local/temporary-folder.ts'
import { pythonPackages } from '../cell-packages-part.ts'
import type { Candidate, Provider } from '../provider.ts'
import type { OuterLayer } from '../pyodide/native-wall-part.ts'

const EMBEDDED = 'the embedded sandbox, which needs only Node.js'

/** Where the embedded sandbox keeps what it makes of the installed package. */
const pyodideFolder = ({ cacheDir }: Pick<Settings, 'cacheDir'>): string => path.join(cacheDir, 'pyodide')

/** It prepares nothing yet. @throws BridgeError CONFIG_INVALID */
export async function createEmbedded(settings: Settings, log: Log): Promise<Provider> {
  const { packages } = settings
  if (settings.mount) {
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

/**
 * @param isThorough its outer wall is known from a trial, in a folder that every user can read, as its files are
 */
export async function probeEmbedded(settings: Pick<Settings, 'runtime'>, isThorough: boolean): Promise<Candidate> {
  const name = 'pyodide'
  if (!isThorough) return { name, usable: true, verdict: EMBEDDED }
  const { findOuterLayer } = await import('../pyodide/outer-layer.ts')
  const folder = await makeTemporaryFolder()
  try {
    await chmod(folder, 0o755)
    await writeFile(path.join(folder, 'child.cjs'), '', { mode: 0o644 })
    const layer = await findOuterLayer(process.execPath, folder)
    return { name, usable: !refusesOpenRoot(settings, layer), verdict: `${EMBEDDED}; ${layer.verdict}` }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** `auto` gives root no sandbox with WebAssembly as its only wall. A user who names the sandbox has accepted that. */
function refusesOpenRoot({ runtime }: Pick<Settings, 'runtime'>, { wall }: OuterLayer): boolean {
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

/** Returns the folder of the embedded sandbox's snapshot if it exists and is damaged. */
export async function findDamagedSnapshot(settings: Pick<Settings, 'cacheDir'>): Promise<string | undefined> {
  const { PyodideProvider } = await import('../pyodide/provider.ts')
  return new PyodideProvider({ cacheFolder: pyodideFolder(settings) }).findDamagedSnapshot()
}
