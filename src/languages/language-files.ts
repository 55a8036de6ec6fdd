// What a kernel runs cells of another language with. Sent when it is needed: a sandbox that runs Python only never has it.
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { BridgeError } from '../errors.ts'
import { PACKAGE_ROOT } from '../storage/package-root.ts'

/** Made by `npm run build`, out of the folder of that language here. */
const FILES = { javascript: ['runner.cjs', 'types.cjs'] } as const

/** By their names. @throws BridgeError CONFIG_INVALID when they were not built */
export async function languageFiles(language: keyof typeof FILES): Promise<Record<string, string>> {
  const folder = path.join(PACKAGE_ROOT, 'dist', 'languages', language)
  try {
    const texts = FILES[language].map(async (name) => [name, await readFile(path.join(folder, name), 'utf8')] as const)
    return Object.fromEntries(await Promise.all(texts))
  } catch {
    throw new BridgeError('CONFIG_INVALID', `The files of ${language} cells are missing in ${folder}.`, {
      hint: 'Install the package again, or run `npm run build` in its sources.',
    })
  }
}
