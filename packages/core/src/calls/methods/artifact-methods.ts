// The methods for artifacts, which a cell stores beyond its session. The store decides what may be stored.
import * as z from 'zod'
import { BridgeError } from '../../errors.ts'
import { method, tellingMethod } from './method.ts'

// A sanity limit; the store reports the real limit of a name.
const name = z.string().max(100_000)

/** Bytes of an artifact per reply, before base64. */
const PIECE_BYTES = 4 << 20

export const artifactMethods = {
  upload: method(
    z.object({ upload: z.int().positive().nullish(), data: z.string() }),
    ({ upload, data }, { uploads }) => uploads.add(upload ?? undefined, fromBase64(data)),
  ),

  save_artifact: method(z.object({ name, upload: z.int().positive() }), async ({ name: wanted, upload }, context) => {
    const artifact = await context.uploads.take(upload, async (data) => {
      await context.flow?.keeps(data, wanted)
      return context.state.artifacts.save(wanted, data)
    })
    context.savedArtifacts.push(artifact)
    return artifact
  }),

  artifacts: tellingMethod(z.object({}), async (_, { state: { artifacts }, flow }) => {
    const all = await artifacts.list()
    await flow?.lists(
      'artifacts',
      all.map((artifact) => artifact.name),
    )
    return all
  }),

  /** A piece of a version; without a version number, of the newest one. */
  open_artifact: tellingMethod(
    z.object({
      name,
      version: z.int().min(1).max(1_000_000_000).nullish(),
      offset: z.int().min(0).max(Number.MAX_SAFE_INTEGER).default(0),
    }),
    async ({ name: wanted, version, offset }, { state: { artifacts }, flow }) => {
      const { artifact, data } = await artifacts.read(wanted, version ?? undefined, { offset, length: PIECE_BYTES })
      await flow?.opens('artifacts', [data], { sha256: artifact.sha256 })
      return { ...artifact, data: data.toString('base64') }
    },
  ),
}

/** Node's decoder silently skips characters that are not base64, and would return wrong bytes. */
export function fromBase64(text: string): Buffer {
  const data = Buffer.from(text, 'base64')
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0
  if (data.length !== (text.length / 4) * 3 - padding) {
    throw new BridgeError('PROXY_ARGUMENTS_INVALID', 'data: must be base64')
  }
  return data
}
