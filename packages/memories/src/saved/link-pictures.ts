// For a client that passes media to the model as base64: saves each as an artifact with a link in its place.
import { hash } from 'node:crypto'
import type { MimeBundle } from '@sandbridge/core/cell'
import { mediaOf } from '@sandbridge/core/cell/render'
import { noteParts } from '@sandbridge/core/cell/render'
import type { ShownResult } from '@sandbridge/core/cell/render'
import type { Artifact, ArtifactStore } from './artifact-store.ts'
import { messageOf } from '@sandbridge/core/errors.ts'

/** The same result with artifacts in place of its media. Never rejects: a note says what could not be saved. */
export async function linkPictures(result: ShownResult, store: Pick<ArtifactStore, 'save'>): Promise<ShownResult> {
  const { displays, value } = result
  const { blocks, notes } = mediaOf(displays, value)
  if (blocks.length === 0) return result
  const saved: Artifact[] = []
  for (const { type, data, mimeType } of blocks) {
    const bytes = Buffer.from(data, 'base64')
    // The same bytes have the same name, and so add no version.
    const name = `${type}-${hash('sha256', bytes).slice(0, 8)}.${mimeType.split('/')[1]!.replace(/\W.*$/, '')}`
    try {
      saved.push(await store.save(name, bytes))
      notes.push(`This client cannot show the ${type} to you. It is the artifact ${name}, and the user gets a link.`)
    } catch (error) {
      notes.push(`This client cannot show the ${type} to you, and it was not saved: ${messageOf(error)}`)
    }
  }
  return {
    ...result,
    displays: displays.map(withoutMedia),
    ...(value && { value: withoutMedia(value) }),
    artifacts: [...(result.artifacts ?? []), ...saved],
    parts: [...result.parts, ...noteParts(notes)],
  }
}

function withoutMedia(bundle: MimeBundle): MimeBundle {
  return Object.fromEntries(Object.entries(bundle).filter(([type]) => !/^(?:image|audio)\//.test(type)))
}
