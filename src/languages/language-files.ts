// What a kernel runs cells of another language with. Sent when it is needed: a sandbox that runs Python only never has it.
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { BridgeError } from '../errors.ts'
import { PACKAGE_ROOT } from '../storage/package-root.ts'

/** Made by `npm run build`, out of the folder of that language here. Those of the embedded sandbox, which has no Node, are others. */
const FILES = {
  javascript: { programs: ['runner.cjs', 'types.cjs'], embedded: ['quickjs.cjs', 'types.cjs', 'quickjs.wasm'] },
} as const

/** By their names: texts, and base64 for what is no text. @throws BridgeError CONFIG_INVALID when they were not built */
export async function languageFiles(
  language: keyof typeof FILES,
  sandbox: 'programs' | 'embedded' = 'programs',
): Promise<Record<string, string>> {
  const folder = path.join(PACKAGE_ROOT, 'dist', 'languages', language)
  try {
    const contents = FILES[language][sandbox].map(async (name) => {
      const encoding = name.endsWith('.wasm') ? 'base64' : 'utf8'
      return [name, await readFile(path.join(folder, name), encoding)] as const
    })
    return Object.fromEntries(await Promise.all(contents))
  } catch {
    throw new BridgeError('CONFIG_INVALID', `The files of ${language} cells are missing in ${folder}.`, {
      hint: 'Install the package again, or run `npm run build` in its sources.',
    })
  }
}
