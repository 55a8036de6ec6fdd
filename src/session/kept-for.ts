// Whose a sandbox is that outlives its bridge. The next bridge gives it to whoever is the same.
import { createHash } from 'node:crypto'
import type { KeptFor } from './session.ts'

/** Of a client that has a connection: its name, its user and the folder that the bridge runs in. */
export const keptForClient: KeptFor = (origin) => {
  const { client, user } = origin ?? {}
  const folder = process.cwd()
  return { owner: ownerOf('client', user, client ?? '', folder), folder, ...(client !== undefined && { client }) }
}

/** Of whoever shows the handle of this session. @param place where its sandbox is, where the handle says so */
export function keptForHandle(session: string, user: string | undefined, place?: Place): KeptFor {
  const owner = ownerOf('handle', user, session)
  return (origin) => ({
    owner,
    ...(place && { place }),
    ...(origin?.client !== undefined && { client: origin.client }),
  })
}

type Place = NonNullable<ReturnType<KeptFor>['place']>

function ownerOf(kind: string, user: string | undefined, ...names: string[]): string {
  return createHash('sha256')
    .update(JSON.stringify([kind, user ?? null, ...names]))
    .digest('hex')
}
