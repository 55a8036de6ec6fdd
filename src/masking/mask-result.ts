// The one way out: everything of a cell's result that the model reads, masked. Pure.
import type { CellResult } from '../cell/cell-result.ts'
import type { MimeBundle } from '../protocol/frames.ts'
import type { Artifact } from '../state/artifact-store.ts'
import { plainText } from '../text/terminal-text.ts'
import type { Masker } from './masker.ts'

const NOT_LOOKED_AT = 'Images, sounds and files were not searched for personal data.'

/** A result without the values of what is masked. Control characters go first: without them a value may come together. */
export function maskResult(result: CellResult, masker: Masker): CellResult {
  const mask = (text: string): string => masker.mask(plainText(text))
  const bundles = [...result.displays, ...(result.value ? [result.value] : [])]
  const hasMedia = bundles.some((bundle) => Object.keys(bundle).some(isMedia))
  const { error, artifacts = [] } = result
  return {
    ...result,
    stdout: mask(result.stdout),
    stderr: mask(result.stderr),
    ...(result.value && { value: maskBundle(result.value, masker) }),
    displays: result.displays.map((bundle) => maskBundle(bundle, masker)),
    ...(error && {
      error: {
        name: mask(error.name),
        message: mask(error.message),
        traceback: mask(error.traceback),
        values: error.values === undefined ? undefined : mask(error.values),
        hint: error.hint === undefined ? undefined : mask(error.hint),
        search: error.search === undefined ? undefined : mask(error.search),
      },
    }),
    ...(result.artifacts && { artifacts: artifacts.map((one) => maskArtifact(one, masker)) }),
    notes: [...result.notes.map(mask), ...(hasMedia || artifacts.length > 0 ? [NOT_LOOKED_AT] : [])],
  }
}

function maskArtifact(artifact: Artifact, masker: Masker): Artifact {
  return { ...artifact, name: masker.mask(artifact.name), uri: masker.mask(artifact.uri) }
}

function maskBundle(bundle: MimeBundle, masker: Masker): MimeBundle {
  return Object.fromEntries(
    Object.entries(bundle).map(([type, content]) => {
      if (isMedia(type)) return [type, content]
      return [type, typeof content === 'string' ? masker.mask(plainText(content)) : masker.maskData(content)]
    }),
  )
}

const isMedia = (type: string): boolean => /^(?:image\/(?!svg)|audio\/|video\/)/.test(type)
