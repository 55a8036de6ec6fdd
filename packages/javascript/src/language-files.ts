// Files with which a kernel runs other languages, sent on demand: a sandbox of Python alone never gets them.
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { BridgeError } from '@sandbridge/core/errors.ts'
import { PACKAGE_ROOT } from '@sandbridge/core/util'

/** Built by `npm run build` from this folder. The embedded sandbox has no Node and uses other files. */
const FILES = {
  javascript: { programs: ['runner.cjs', 'types.cjs'], embedded: ['quickjs.cjs', 'types.cjs', 'quickjs.wasm'] },
} as const

/**
 * Returns contents by name: text, or base64 for binary files.
 * @throws BridgeError CONFIG_INVALID if they were not built
 */
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
