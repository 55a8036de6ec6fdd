// Finds clients that have this bridge registered beside servers that the bridge also offers: the model then pays for
// their tools twice.
import type { Bridge } from '../../bridge/bridge.ts'
import { OWN_SOURCES } from '../../config/readers/own-places.ts'
import { count } from '../../util/text/count.ts'
import { estimateTokens } from '../../util/tokens/estimate-tokens.ts'
import type { Target } from '../init/targets.ts'
import type { Finding } from './finding.ts'

interface Parts extends Pick<Bridge, 'discovered'> {
  catalog: Pick<Bridge['catalog'], 'knownTools'>
}

/** @param targets the files that `sandbridge init` can change */
export function checkClients({ discovered, catalog }: Parts, targets: readonly Pick<Target, 'files'>[]): Finding[] {
  const filesOfSelf = new Set(discovered.skipped.flatMap(({ file, kind }) => (kind === 'self' ? [file] : [])))
  return discovered.files.flatMap(({ client, file }): Finding[] => {
    if (OWN_SOURCES.has(client) || !filesOfSelf.has(file)) return []
    const beside = discovered.found.filter(({ definition, isDouble }) => definition.source.file === file && !isDouble)
    if (beside.length === 0) return []
    const listed = beside.map(({ name }) => catalog.knownTools(name))
    const tokens = listed.flat().reduce((sum, { definition }) => sum + estimateTokens(JSON.stringify(definition)), 0)
    const cost = tokens > 0 ? `, about ${tokens} tokens in each conversation` : ''
    const names = beside.map(({ definition }) => definition.name).join(', ')
    return [
      {
        check: 'clients',
        level: 'warning',
        message: `${client} lists the tools of ${count(beside.length, 'server')} itself, beside this bridge: ${names}${cost}.`,
        advice: targets.some(({ files }) => files.includes(file))
          ? `sandbridge init --move --client ${client}`
          : `Take them out of ${file}.`,
      },
    ]
  })
}
