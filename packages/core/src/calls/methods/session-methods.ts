// The methods by which a cell reads facts about its session and its earlier output, and ends the session.
import * as z from 'zod'
import { checkpoint } from '../../cell/session/checkpoint.ts'
import { method, tellingMethod } from './method.ts'
import { languages } from '../../cell/javascript-part.ts'

export const sessionMethods = {
  session: method(z.object({}), (_, { session }) => session.describe()),

  output: tellingMethod(
    z.object({ cell: z.int().positive().nullish(), start: z.int().nonnegative().default(0) }),
    ({ cell, start }, { session }) => session.outputs.slice(cell ?? undefined, start),
  ),

  reset_session: method(
    z.object({}),
    (_, { session }) => {
      session.resetAfterCell()
      return null
    },
    {
      name: 'reset',
      doc: 'Start afresh: the next cell has a new sandbox, without variables and with an empty /workspace.',
      returns: 'None',
    },
  ),

  save_checkpoint: method(checkpoint, (latest, { session }) => {
    session.keepCheckpoint(latest)
    return null
  }),
}

export const languageMethods = {
  language_files: method(
    z.object({ language: z.literal('javascript'), embedded: z.boolean().optional() }),
    async ({ language, embedded }) => {
      const { languageFiles } = await languages.for('A cell in JavaScript')
      return languageFiles(language, embedded ? 'embedded' : 'programs')
    },
  ),
}
