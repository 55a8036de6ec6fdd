// Adds answers to the user's permissions.json, and takes trust back: locked, atomic, comments and order kept.
import { mkdir, realpath } from 'node:fs/promises'
import path from 'node:path'
import { nodeFileSystem, permissionsFile, readFileOrLink } from '@sandbridge/core/config'
import { type FlowReason, type RuleEntry, ruleFor, type RulesOfFile } from '@sandbridge/core/config/rules'
import type { Subject, TrustedText, Verdict } from '@sandbridge/core/config/rules'
import { BridgeError } from '@sandbridge/core/errors.ts'
import { replaceFile, withFileLock } from '@sandbridge/core/util/files'
import { conditionFor } from './flow.ts'
import { readRules } from './read-rules.ts'

/** @returns the number of rules that are new. @throws BridgeError CONFIG_INVALID for an invalid or read-only file */
export async function rememberRules(
  stateDir: string,
  rules: readonly { verdict: Verdict; rule: string | RuleEntry }[],
): Promise<number> {
  let count = 0
  await changeFile(stateDir, async (text, { rules: old }) => {
    const known = new Set(old.map(({ verdict, text: rule }) => `${verdict} ${rule}`))
    const added = rules.filter(({ verdict, rule }) => !known.has(`${verdict} ${JSON.stringify(rule)}`))
    count = added.length
    const { appendToList } = await import('@sandbridge/shared/edits/jsonc-edits.ts')
    return added.reduce((all, { verdict, rule }) => appendToList(all, ['permissions', verdict], rule), text)
  })
  return count
}

/** As the answer "yes, this tool always". @param flow only calls with no other flow than this one */
export async function allowAlways(stateDir: string, { server, tool, definition }: Subject, flow?: FlowReason) {
  const when = flow && conditionFor(flow)
  const rule = { ...ruleFor(server, tool), ...(when && { when }), definition, insteadOfAsking: true as const }
  await rememberRules(stateDir, [{ verdict: 'allow', rule }])
}

/** Adds a server whose text the user trusts. @throws as {@link rememberRules} */
export async function rememberTrust(stateDir: string, { server, definition }: TrustedText): Promise<void> {
  await changeFile(stateDir, async (text, { trust }) => {
    if (trust.some((one) => one.server === server && one.definition === definition)) return text
    const { appendToList } = await import('@sandbridge/shared/edits/jsonc-edits.ts')
    return appendToList(text, ['trust'], { server, definition })
  })
}

/** Takes back the trust in the text of a server. @returns whether there was any @throws as {@link rememberRules} */
export async function forgetTrust(stateDir: string, server: string): Promise<boolean> {
  let had = false
  await changeFile(stateDir, async (text, { trust }) => {
    const left = trust.filter((one) => one.server !== server)
    had = left.length < trust.length
    const { editJsoncText } = await import('@sandbridge/shared/edits/jsonc-edits.ts')
    return had ? editJsoncText(text, ['trust'], left.length === 0 ? undefined : left) : text
  })
  return had
}

async function changeFile(
  stateDir: string,
  change: (text: string, content: RulesOfFile) => Promise<string>,
): Promise<void> {
  const file = permissionsFile(stateDir)
  await mkdir(stateDir, { recursive: true, mode: 0o700 })
  await withFileLock(path.join(stateDir, '.sandbridge', 'permissions.lock'), async () => {
    const read = await readFileOrLink(nodeFileSystem, file)
    if ('reason' in read) throw refused(`${file}: ${read.reason}`)
    const before = 'text' in read ? read.text : '{\n  "permissions": {}\n}\n'
    const after = await change(before, await contentOf(before, file))
    if (after === before) return
    await contentOf(after, file)
    // A link stays one: a rule that its user adds to their own file later must count, too.
    await replaceFile('text' in read ? await realpath(file) : file, after)
  })
}

/** @throws BridgeError CONFIG_INVALID */
async function contentOf(text: string, file: string): Promise<RulesOfFile> {
  const read = await readRules(text, { scope: 'user', file, shown: path.basename(file) })
  if ('rules' in read) return read
  const [{ reason, place }] = read.problems as [(typeof read.problems)[number]]
  throw refused(`${file}${place ? `:${place.line}:${place.column}` : ''}: ${reason}`)
}

function refused(message: string): BridgeError {
  return new BridgeError('CONFIG_INVALID', message, { hint: 'Correct the file: docs/permissions.md describes it.' })
}
