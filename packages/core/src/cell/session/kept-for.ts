// Identifies the owner of a durable sandbox, so that the next bridge gives it back to the same owner.
import { hash } from 'node:crypto'
import type { Origin } from '../../observe/events/event.ts'
import type { KeptSession } from '../../isolation/provider.ts'

/** Identifies the owner of a durable sandbox by the origin of the first cell, for the next bridge. */
export type KeptFor = (origin: Pick<Origin, 'client' | 'user'> | undefined) => KeptSession

/** The owner is a connected client: its name, its user and the folder that it works in. */
export function keptForClient(folder: string): KeptFor {
  return (origin) => {
    const { client, user } = origin ?? {}
    return { owner: ownerOf('client', user, client ?? '', folder), ...(client !== undefined && { client }) }
  }
}

/** The owner is anyone who presents this session's handle. @param place of its sandbox, if the handle has it */
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
  return hash('sha256', JSON.stringify([kind, user ?? null, ...names]))
}
