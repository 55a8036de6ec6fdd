// `sandbridge permissions import CLIENT`: imports the user's decisions about tools from another client.
import { readdir } from 'node:fs/promises'
import path from 'node:path'
import { processContext } from '../../config/settings/client-context.ts'
import { parseDocument } from '../../config/formats/config-document.ts'
import { nodeFileSystem, readFileText } from '../../config/config-file.ts'
import { hostPaths } from '../../config/discover.ts'
import type { ImportedRules } from './import-rules.ts'
import { IMPORTS } from './import-sources.ts'
import { permissionsFile } from '../../config/permission-files.ts'
import type { ConfigLocation } from '../../config/readers/reader.ts'
import { rememberRules } from '../../config/remember-rule.ts'
import { BridgeError } from '../../errors.ts'
import { count } from '../../util/text/count.ts'
import { didYouMeanText } from '../../util/text/did-you-mean.ts'
import { confirm } from '../terminal/confirm.ts'
import { withBridge } from '../terminal/open-bridge.ts'
import { print, printJson } from '../terminal/print.ts'

/** @throws BridgeError for an unknown client, and CONFIG_INVALID for an invalid file */
export async function importPermissions(client: string, options: { yes?: boolean; json?: boolean }): Promise<void> {
  const sources = Object.hasOwn(IMPORTS, client) ? IMPORTS[client] : undefined
  if (!sources) {
    const names = Object.keys(IMPORTS)
    throw new BridgeError('TOOL_ARGUMENTS_INVALID', `No rules can be taken over from '${client}'`, {
      hint: `${didYouMeanText(client, names)} Clients: ${names.join(', ')}.`.trim(),
    })
  }
  await withBridge(async ({ catalog, settings }) => {
    const servers = catalog.servers().map(({ name }) => name)
    const found: ImportedRules & { files: string[] } = { rules: [], leftOut: [], files: [] }
    for (const { locations, format, rules } of sources) {
      for (const file of await filesAt(locations(hostPaths(settings, processContext())))) {
        const read = await readFileText(nodeFileSystem, file)
        if ('absent' in read) continue
        const parsed = 'text' in read ? await parseDocument(read.text, format) : read
        if ('reason' in parsed) throw new BridgeError('CONFIG_INVALID', `${file} ${parsed.reason}`)
        const { rules: taken, leftOut } = rules(parsed.document, servers)
        found.files.push(file)
        found.rules.push(...taken)
        found.leftOut.push(...leftOut)
      }
    }
    const isWanted =
      found.rules.length > 0 &&
      (options.yes === true || (!options.json && (await isConfirmed(found, settings.stateDir))))
    const added = isWanted ? await rememberRules(settings.stateDir, found.rules) : 0
    if (options.json) return printJson({ ...found, added })
    if (found.files.length === 0) return print(`${client} has no file with rules here.`)
    for (const one of found.leftOut) print(`Left out: ${one}`)
    if (found.rules.length === 0) print(`${client} has no rule about a server that is configured here.`)
    else
      print(
        added === 0 ? 'Nothing was added.' : `${count(added, 'rule')} added to ${permissionsFile(settings.stateDir)}`,
      )
  })
}

async function isConfirmed({ rules, files }: ImportedRules & { files: string[] }, stateDir: string): Promise<boolean> {
  print(`From ${files.join(', ')}:`)
  for (const { verdict, rule } of rules) print(`  ${verdict} ${JSON.stringify(rule)}`)
  return confirm(`Add them to ${permissionsFile(stateDir)}? [y/N] `)
}

async function filesAt(locations: readonly ConfigLocation[]): Promise<string[]> {
  const lists = locations.map(async ({ path: place, kind }) => {
    if (kind !== 'folder') return [place]
    const names = await readdir(place).catch((): string[] => [])
    return names.filter((name) => name.endsWith('.toml')).map((name) => path.join(place, name))
  })
  return (await Promise.all(lists)).flat()
}
