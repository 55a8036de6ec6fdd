// Merges the files of KUBECONFIG as kubectl does. Does not interpret their entries.
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { parse } from 'yaml'
import { BridgeError } from '@sandbridge/core/errors.ts'
import { decodeText } from '@sandbridge/core/util/bytes'
import { fieldsOf, isRecord } from '@sandbridge/core/util/json/json.ts'

/** A cluster, user or context, and the folder for its relative paths. */
export interface Entry {
  value: Record<string, unknown>
  folder: string
}

type Entries = Map<string, Entry>

export interface Merged {
  files: string[]
  currentContext: string | undefined
  clusters: Entries
  users: Entries
  contexts: Entries
}

/**
 * The first file that sets a value wins; files that do not exist are skipped.
 * @throws BridgeError CONFIG_INVALID
 */
export async function mergeFiles(files: readonly string[]): Promise<Merged> {
  const merged: Merged = {
    files: [],
    currentContext: undefined,
    clusters: new Map(),
    users: new Map(),
    contexts: new Map(),
  }
  for (const file of files) {
    const content = await readFile(file).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return undefined
      throw invalid(`${file} cannot be read: ${error.code}`)
    })
    if (content === undefined) continue
    const parsed = parseFile(file, decodeText(content, false))
    merged.files.push(file)
    const current = parsed['current-context']
    if (merged.currentContext === undefined && typeof current === 'string' && current !== '')
      merged.currentContext = current
    const folder = path.dirname(path.resolve(file))
    addEntries(merged.clusters, parsed['clusters'], 'cluster', folder)
    addEntries(merged.users, parsed['users'], 'user', folder)
    addEntries(merged.contexts, parsed['contexts'], 'context', folder)
  }
  return merged
}

function parseFile(file: string, text: string): Record<string, unknown> {
  try {
    const content: unknown = parse(text, { maxAliasCount: 0 }) ?? {}
    if (isRecord(content)) return content
  } catch {
    // The parser's message would quote the file, which contains credentials.
  }
  throw invalid(`${file} is not a kubeconfig file`)
}

function addEntries(entries: Entries, list: unknown, field: string, folder: string): void {
  if (!Array.isArray(list)) return
  for (const entry of list as unknown[]) {
    if (!isRecord(entry) || typeof entry['name'] !== 'string' || entries.has(entry['name'])) continue
    const value = entry[field]
    entries.set(entry['name'], { value: fieldsOf(value), folder })
  }
}

/** Returns an error that says why a file cannot be used. Contains only names from the file. */
export function invalid(
  reason: string,
  hint = 'Correct the kubeconfig file. `kubectl get pods` uses the same files.',
): BridgeError {
  return new BridgeError('CONFIG_INVALID', `The Kubernetes configuration cannot be used: ${reason}.`, { hint })
}
