// Files beside a project's config file that decide what its servers run (envFile, inserted texts): trust covers them.
import path from 'node:path'
import { type ConfigFileSystem, readFileText } from './config-file.ts'
import { type ExpandContext, expandTransport } from './entries/expand.ts'
import type { CoveredFiles, ServerDefinition } from './entries/server-definition.ts'
import { textHash } from './trust.ts'
import { orUndefined } from '../util/or-undefined.ts'

/** The files that a definition inserts, with a hash of each text: of the empty text for an unreadable one. */
export async function coveredFiles(
  definition: ServerDefinition,
  place: Pick<ExpandContext, 'env' | 'home' | 'workspaceFolder'>,
  fileSystem: ConfigFileSystem,
): Promise<CoveredFiles> {
  const { transport } = definition
  const { envFile } = transport.type === 'stdio' ? transport : {}
  const named = new Set([
    ...(envFile === undefined ? [] : filesRead({ ...definition, transport: { ...NOTHING, envFile } }, place)),
    // Files elsewhere are the user's own, such as a token that is renewed every hour.
    ...filesRead(definition, place).filter((file) => file.startsWith(`${place.workspaceFolder}${path.sep}`)),
  ])
  const entries = [...named].map(async (file): Promise<[string, string]> => {
    const read = await readFileText(fileSystem, file)
    return [file, textHash('text' in read ? read.text : '')]
  })
  return Object.fromEntries(await Promise.all(entries))
}

const NOTHING = { type: 'stdio' as const, command: '', args: [], env: {} }

/** A server that lacks a variable is not started; once it has it, further files are covered, and need trust again. */
function filesRead(
  definition: ServerDefinition,
  place: Pick<ExpandContext, 'env' | 'home' | 'workspaceFolder'>,
): string[] {
  const files: string[] = []
  const readFile = (file: string): string => {
    files.push(file)
    return ''
  }
  // The error is shown when the server is started.
  orUndefined(() => expandTransport(definition, { ...place, readFile, input: () => 'x' }))
  return files
}
