// What an entry of this bridge in a client's file starts, if it is not this installation.
import path from 'node:path'
import { nodeFileSystem, readFileText } from '@sandbridge/core/config'
import type { ConfigFileSystem } from '@sandbridge/core/config'
import type { ServerBody } from '@sandbridge/core/config/entries'
import { fieldsOf, parseJson } from '@sandbridge/core/util/json/json.ts'
import { realpathOr } from '@sandbridge/core/util/process'
import { isInCache } from '../checks/bridge-command.ts'

/** What `init` writes, and what package managers put on the PATH. */
const PACKAGE = /^(.*)[/\\](?:dist[/\\]cli\.js|packages[/\\]sandbridge[/\\]cli\.cjs)$/

export interface OtherStart {
  /** Completes a sentence about the entry. */
  text: string
  /** Of another installation that works. */
  version?: string
}

/** @param root the folder of this package; without it, other installations are not looked for */
export async function otherStart(
  { transport }: Pick<ServerBody, 'transport'>,
  root?: string,
  fileSystem: ConfigFileSystem = nodeFileSystem,
): Promise<OtherStart | undefined> {
  if (transport.type !== 'stdio') return undefined
  const files = [transport.command, ...transport.args].filter((word) => path.isAbsolute(word))
  for (const file of files)
    if ('absent' in (await readFileText(fileSystem, file))) return { text: `starts ${file}, which is gone` }
  const [other] = files.flatMap((file) => PACKAGE.exec(realpathOr(file))?.[1] ?? [])
  if (other === undefined || root === undefined) return undefined
  if (isInCache(other)) return { text: `starts it from a cache, which may be deleted at any time: ${other}` }
  if (other === realpathOr(root)) return undefined
  const read = await readFileText(fileSystem, path.join(other, 'package.json'))
  const { name, version } = fieldsOf('text' in read ? parseJson(read.text) : undefined)
  if (name !== 'sandbridge' || typeof version !== 'string') return undefined
  return { text: `starts another installation, version ${version} in ${other}`, version }
}
