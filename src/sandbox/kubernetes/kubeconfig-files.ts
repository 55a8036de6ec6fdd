// The files of KUBECONFIG as one, merged as kubectl merges them. What their entries mean is not known here.
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { parse } from 'yaml'
import { BridgeError } from '../../errors.ts'
import { fieldsOf, isRecord } from '../../text/json.ts'

/** A cluster, user or context, and the folder that its paths are relative to. */
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
 * The first file that sets something wins; a file that does not exist is left out.
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
    const content = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return undefined
      throw invalid(`${file} cannot be read: ${error.code}`)
    })
    if (content === undefined) continue
    const parsed = parseFile(file, content)
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
    // A parser's own message would quote the file, which holds credentials.
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

/** That a file cannot be used, and why: never with anything of its content but names. */
export function invalid(
  reason: string,
  hint = 'Correct the kubeconfig file. `kubectl get pods` uses the same files.',
): BridgeError {
  return new BridgeError('CONFIG_INVALID', `The Kubernetes configuration cannot be used: ${reason}.`, { hint })
}
