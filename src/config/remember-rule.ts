// Adds rules to the user's permissions.json: under a lock, atomically, and only if the file is valid. Comments and
// order are kept.
import { mkdir } from 'node:fs/promises'
import path from 'node:path'
import { BridgeError } from '../errors.ts'
import type { RuleEntry, Verdict } from './rules/rule.ts'
import { withFileLock } from '../util/files/file-lock.ts'
import { replaceFile } from '../util/files/replace-file.ts'
import { nodeFileSystem, readFileText } from './config-file.ts'
import { permissionsFile } from './permission-files.ts'

/**
 * @returns the number of added rules; existing ones are not added again.
 * @throws BridgeError CONFIG_INVALID when the file is invalid or cannot be written
 */
export async function rememberRules(
  stateDir: string,
  rules: readonly { verdict: Verdict; rule: string | RuleEntry }[],
): Promise<number> {
  const file = permissionsFile(stateDir)
  await mkdir(stateDir, { recursive: true, mode: 0o700 })
  return withFileLock(path.join(stateDir, '.sandbridge', 'permissions.lock'), async () => {
    const read = await readFileText(nodeFileSystem, file)
    if ('reason' in read) throw refused(`${file}: ${read.reason}`)
    const { appendToList } = await import('./formats/jsonc-edits.ts')
    let text = 'text' in read ? read.text : '{\n  "permissions": {}\n}\n'
    const known = await textsOf(text, file)
    const added = rules.filter(({ verdict, rule }) => !known.has(`${verdict} ${JSON.stringify(rule)}`))
    if (added.length === 0) return 0
    for (const { verdict, rule } of added) text = appendToList(text, ['permissions', verdict], rule)
    await textsOf(text, file)
    await replaceFile(file, text)
    return added.length
  })
}

/** The rules in a file's text, as lists name them. @throws BridgeError CONFIG_INVALID */
async function textsOf(text: string, file: string): Promise<Set<string>> {
  const { readRules } = await import('./rules/read-rules.ts')
  const read = await readRules(text, { scope: 'user', file, shown: path.basename(file) })
  if ('rules' in read) return new Set(read.rules.map(({ verdict, text: rule }) => `${verdict} ${rule}`))
  const [{ reason, place }] = read.problems as [(typeof read.problems)[number]]
  throw refused(`${file}${place ? `:${place.line}:${place.column}` : ''}: ${reason}`)
}

function refused(message: string): BridgeError {
  return new BridgeError('CONFIG_INVALID', message, { hint: 'Correct the file: docs/permissions.md describes it.' })
}
