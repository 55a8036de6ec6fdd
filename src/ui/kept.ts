// What cells have kept for the user, as the page shows it.
import type { Bridge } from '../bridge.ts'
import { savedToolSummary } from '../state/saved-tool.ts'

export interface KeptView {
  artifacts: {
    name: string
    version: number
    versionCount: number
    sizeBytes: number
    contentType: string
    createdAt: string
  }[]
  tools: { name: string; version: number; versions: number[]; signature: string; summary: string }[]
  broken: { name: string; problem: string }[]
}

/** Of one that is shown as text. */
const PREVIEW_BYTES = 64 * 1024
const IMAGE_BYTES = 4 * 1024 * 1024
const IMAGES = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp'])

export async function kept({ artifacts, savedTools }: Bridge): Promise<KeptView> {
  const all = await artifacts.versions()
  const counts = new Map<string, number>()
  for (const { name } of all) counts.set(name, (counts.get(name) ?? 0) + 1)
  const newest = await artifacts.list()
  const { tools, broken } = await savedTools.list()
  return {
    artifacts: newest.map(({ name, version, sizeBytes, contentType, createdAt }) => {
      return { name, version, versionCount: counts.get(name) ?? 1, sizeBytes, contentType, createdAt }
    }),
    tools: await Promise.all(
      tools.map(async (tool) => ({
        name: tool.name,
        version: tool.version,
        versions: await savedTools.versions(tool.name),
        signature: tool.signature,
        summary: savedToolSummary(tool),
      })),
    ),
    broken: broken.map(({ name, problem }) => ({ name, problem })),
  }
}

/** @throws BridgeError when it does not exist */
export async function keptArtifact({ artifacts }: Bridge, name: string, version: number | undefined): Promise<unknown> {
  const { artifact, data } = await artifacts.read(name, version)
  if (IMAGES.has(artifact.contentType) && data.length <= IMAGE_BYTES) {
    return { ...artifact, image: { type: artifact.contentType, data: data.toString('base64') } }
  }
  const isText = !data.subarray(0, PREVIEW_BYTES).includes(0)
  return { ...artifact, ...(isText && { text: data.subarray(0, PREVIEW_BYTES).toString() }) }
}

/** @throws BridgeError when it does not exist */
export async function keptTool({ savedTools }: Bridge, name: string, version: number | undefined): Promise<unknown> {
  return savedTools.find(name, version)
}
