// Packages of cells: where they are configured, which are missing in the sandbox, and how to add some.
import type { OpenTenant } from '@sandbridge/core/bridge'
import { packagesSource, type Settings } from '@sandbridge/core/config/settings'
import type { Finding } from '@sandbridge/core/serve/cli'

/** @param hasPandas undefined if no cell ran */
export function packagesText(settings: Settings, hasPandas: boolean | undefined): string | undefined {
  const { packages } = settings
  if (packages.length > 0) return `Packages: ${packages.join(', ')}, from ${packagesSource(settings)}.`
  return hasPandas === false ? 'Cells have no pandas. Add it: sandbridge packages add pandas matplotlib' : undefined
}

/** Starts nothing: the sandbox of the trial has been prepared. */
export async function checkPackages(bridge: OpenTenant): Promise<Finding[]> {
  const found = await bridge.findProvider().catch(() => undefined)
  return (found?.provider.missingPackages ?? []).map(({ word, reason }) => ({
    check: 'packages',
    level: 'warning',
    message: `Cells cannot import ${word}: ${reason}.`,
    advice: `Remove the cause and run \`sandbridge packages\`, or remove the package: sandbridge packages remove ${word}`,
  }))
}
