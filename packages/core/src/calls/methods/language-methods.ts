// The method by which a kernel fetches the program that runs cells of another language.
import * as z from 'zod'
import { languages } from '../../cell/languages-part.ts'
import { method } from './method.ts'

export const languageMethods = {
  language_files: method(
    z.object({ language: z.literal('javascript'), embedded: z.boolean().optional() }),
    async ({ language, embedded }) => {
      const { languageFiles } = await languages.for('A cell in JavaScript')
      return languageFiles(language, embedded ? 'embedded' : 'programs')
    },
  ),
}
