// The method by which a kernel fetches the program that runs cells of another language.
import * as z from 'zod'
import { languageFiles } from '../../cell/languages/language-files.ts'
import { method } from './method.ts'

export const languageMethods = {
  language_files: method(
    z.object({ language: z.literal('javascript'), embedded: z.boolean().optional() }),
    ({ language, embedded }) => languageFiles(language, embedded ? 'embedded' : 'programs'),
  ),
}
