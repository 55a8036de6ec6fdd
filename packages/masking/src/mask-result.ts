// Masks everything in a cell's result that the model reads. Pure.
import { messageOf } from '@sandbridge/core/errors.ts'
import { fieldsOf, itemsOf } from '@sandbridge/core/util/json/json.ts'
import type { Artifact, CellResult, MimeBundle } from '@sandbridge/core/cell'
import { plainText } from '@sandbridge/core/util/text'
import type { Mask } from '@sandbridge/core/parts'
import { maskData } from './mask-data.ts'
import { type Masker } from './masker.ts'

export const NOT_LOOKED_AT = 'Images, sounds and files were not searched for personal data.'

const ARTIFACT_ADDRESS = /(sandbridge:\/\/artifact\/)([\w.!~*'()%-]+)/g

export async function maskResult(result: CellResult, masker: Masker, signal?: AbortSignal): Promise<CellResult> {
  try {
    return await masker.masked((mask) => masked(result, mask), signal)
  } catch (error) {
    return leftOut(result, messageOf(error))
  }
}

/** Whether the result of a tool has more than texts. */
export function hasFiles(result: unknown): boolean {
  return itemsOf(fieldsOf(result)['content']).some((block) => {
    const { data, resource } = fieldsOf(block)
    return data !== undefined || fieldsOf(resource)['blob'] !== undefined
  })
}

/** Not reported as a failure: the cell has run, and the model would run it again. */
function leftOut(result: CellResult, why: string): CellResult {
  const { value: _value, artifacts: _artifacts, error, ...rest } = result
  const note = `All output of this cell was left out. ${why}. The cell has run, and its variables are kept: tell the user, and show the values again later.`
  return {
    ...rest,
    stdout: '',
    stderr: '',
    displays: [],
    ...(error && { error: { name: 'Error', message: 'left out with the output', traceback: '' } }),
    notes: [note],
  }
}

/** Control characters are removed first: their removal could complete a value that was not recognised. */
function masked(result: CellResult, maskPlain: Mask): CellResult {
  const maskText: Mask = (text, key) => maskPlain(withMaskedAddresses(text, maskPlain), key)
  const mask: Mask = (text) => maskText(plainText(text))
  const bundles = [...result.displays, ...(result.value ? [result.value] : [])]
  const hasMedia = bundles.some((bundle) => Object.keys(bundle).some(isMedia))
  const { error, artifacts = [], displayedAt, ...rest } = result
  const stdout = mask(result.stdout)
  return {
    ...rest,
    stdout,
    // A mask moves the places.
    ...(displayedAt && stdout === result.stdout && { displayedAt }),
    stderr: mask(result.stderr),
    ...(result.value && { value: maskBundle(result.value, maskText) }),
    displays: result.displays.map((bundle) => maskBundle(bundle, maskText)),
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
    ...(result.artifacts && { artifacts: artifacts.map((one) => maskArtifact(one, maskPlain)) }),
    notes: [...result.notes.map((note) => mask(note)), ...(hasMedia || artifacts.length > 0 ? [NOT_LOOKED_AT] : [])],
  }
}

/** Artifact URIs encode the name, and recognisers do not find encoded values. */
function withMaskedAddresses(text: string, mask: Mask): string {
  return text.replace(ARTIFACT_ADDRESS, (address, before: string, name: string) => {
    try {
      return before + encodeURIComponent(mask(decodeURIComponent(name)))
    } catch {
      return address
    }
  })
}

function maskArtifact(artifact: Artifact, mask: Mask): Artifact {
  return { ...artifact, name: mask(artifact.name), uri: withMaskedAddresses(artifact.uri, mask) }
}

function maskBundle(bundle: MimeBundle, mask: Mask): MimeBundle {
  return Object.fromEntries(
    Object.entries(bundle).map(([type, content]) => {
      if (isMedia(type)) return [type, content]
      return [type, typeof content === 'string' ? mask(plainText(content)) : maskData(content, mask)]
    }),
  )
}

const isMedia = (type: string): boolean => /^(?:image\/(?!svg)|audio\/|video\/)/.test(type)
