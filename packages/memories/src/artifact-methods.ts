// The methods for artifacts, which a cell stores beyond its session. The store decides what may be stored.
import * as z from 'zod'
import { method, tellingMethod } from '@sandbridge/core/calls/methods'
import { savedOf } from './saved/saved-things.ts'
import { fromBase64, uploadsOf } from './saved/uploads.ts'

// A sanity limit; the store reports the real limit of a name.
const name = z.string().max(100_000)

/** Bytes of an artifact per reply, before base64. */
const PIECE_BYTES = 4 << 20

export const artifactMethods = {
  upload: method(z.object({ upload: z.int().positive().nullish(), data: z.string() }), ({ upload, data }, context) =>
    uploadsOf(context).add(upload ?? undefined, fromBase64(data)),
  ),

  save_artifact: method(z.object({ name, upload: z.int().positive() }), async ({ name: wanted, upload }, context) => {
    const artifact = await uploadsOf(context).take(upload, async (data) => {
      await context.flow?.keeps(data, wanted)
      return savedOf(context.state).artifacts.save(wanted, data)
    })
    context.savedArtifacts.push(artifact)
    return artifact
  }),

  artifacts: tellingMethod(z.object({}), async (_, { state, flow }) => {
    const all = await savedOf(state).artifacts.list()
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
    async ({ name: wanted, version, offset }, { state, flow }) => {
      const piece = { offset, length: PIECE_BYTES }
      const { artifact, data } = await savedOf(state).artifacts.read(wanted, version ?? undefined, piece)
      await flow?.opens('artifacts', [data], { sha256: artifact.sha256 })
      return { ...artifact, data: data.toString('base64') }
    },
  ),
}
