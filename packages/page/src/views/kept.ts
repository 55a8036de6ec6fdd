// What cells have stored for the user, for the page.
import type { Bridge } from '@sandbridge/core/bridge/bridge.ts'
import type { Artifact } from '@sandbridge/memories/saved/artifact-store.ts'
import { type SavedTool, savedToolSummary } from '@sandbridge/memories/saved/saved-tool.ts'
import { savedOf } from '@sandbridge/memories/saved/saved-things.ts'

export interface KeptView {
  artifacts: (Artifact & Versions)[]
  /** Functions, including those that are workflows. */
  tools: (Pick<SavedTool, 'name' | 'version' | 'signature'> & Versions & { summary: string; title?: string })[]
  broken: { name: string; problem: string }[]
}

interface Versions {
  /** Oldest first. */
  versions: number[]
}

/** Limit of a preview as text. */
const PREVIEW_BYTES = 64 * 1024
const PICTURE_BYTES = 4 * 1024 * 1024
const PICTURES = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp'])

export async function kept({ page }: Bridge): Promise<KeptView> {
  const { artifacts, tools: savedTools } = savedOf(page.tenant.person.state)
  const versions = new Map<string, number[]>()
  for (const { name, version } of await artifacts.versions())
    versions.set(name, [...(versions.get(name) ?? []), version])
  const newest = await artifacts.list()
  const { tools, broken } = await savedTools.list()
  return {
    artifacts: newest.map((one) => {
      return { ...one, versions: (versions.get(one.name) ?? [one.version]).toSorted((a, b) => a - b) }
    }),
    tools: await Promise.all(
      tools.map(async (tool) => {
        const { name, version, signature, workflow } = tool
        const about = { name, version, signature, summary: savedToolSummary(tool) }
        return { ...about, versions: await savedTools.versions(name), ...(workflow && { title: workflow.title }) }
      }),
    ),
    broken: broken.map(({ name, problem }) => ({ name, problem })),
  }
}

/** @throws BridgeError when it does not exist */
export async function keptArtifact({ page }: Bridge, name: string, version: number | undefined): Promise<unknown> {
  const { artifact, data } = await savedOf(page.tenant.person.state).artifacts.read(name, version)
  if (PICTURES.has(artifact.contentType) && data.length <= PICTURE_BYTES) {
    return { ...artifact, image: { type: artifact.contentType, data: data.toString('base64') } }
  }
  const shown = data.subarray(0, PREVIEW_BYTES)
  if (shown.includes(0)) return artifact
  const shownBytes = shown.length < data.length ? shown.length : undefined
  // Without the beginning of a character that is cut.
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(shown, { stream: true })
  return { ...artifact, text, ...(shownBytes !== undefined && { shownBytes }) }
}

/** @throws BridgeError when it does not exist */
export async function keptTool({ page }: Bridge, name: string, version: number | undefined): Promise<unknown> {
  return savedOf(page.tenant.person.state).tools.find(name, version)
}
