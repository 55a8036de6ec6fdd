// The methods by which a cell learns of its own session and ends it.
import { z } from 'zod'
import { checkpoint } from '../session/checkpoint.ts'
import { method } from './method.ts'

export const sessionMethods = {
  session: method(z.object({}), (_, { session }) => session.describe()),

  reset_session: method(z.object({}), (_, { session }) => {
    session.resetAfterCell()
    return null
  }),

  save_checkpoint: method(checkpoint, (latest, { session }) => {
    session.keepCheckpoint(latest)
    return null
  }),
}
