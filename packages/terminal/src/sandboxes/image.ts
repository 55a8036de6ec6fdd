// `sandbridge image build`: builds the container images that cells run in.
import { loadSettings } from '@sandbridge/core/config/settings'
import { containers } from '@sandbridge/core/parts'
import { print, printJson, tell } from '@sandbridge/core/serve/cli/terminal'

export async function imageBuild(variant: string, options: { json?: boolean } = {}): Promise<void> {
  const { buildImage } = await containers.for('`sandbridge image build`')
  const { runtime } = await loadSettings()
  const engine = runtime === 'podman' || runtime === 'docker' ? { engine: runtime } : {}
  const { engine: used, image } = await buildImage(variant, {
    ...engine,
    // With --json, a program reads stdout.
    onLine: options.json ? tell : print,
  })
  if (options.json) return printJson({ engine: used, image })
  print(`\nBuilt with ${used}. Use it with MCP_BRIDGE_IMAGE=${image}`)
}
