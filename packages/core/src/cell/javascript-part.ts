// Programs that run cells of other languages, as far as the core knows them.
import { Part } from '../util/part.ts'

export const languages = new Part<LanguagesPart>('JavaScript')

interface LanguagesPart {
  /** Returns contents by name: text, or base64 for binary files. @throws BridgeError CONFIG_INVALID without them */
  languageFiles: (language: 'javascript', sandbox?: 'programs' | 'embedded') => Promise<Record<string, string>>
}
