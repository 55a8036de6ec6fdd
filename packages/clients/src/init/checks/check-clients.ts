// Finds clients that have this bridge beside servers that it offers, too: the model pays for their tools twice.
import type { OpenTenant } from '@sandbridge/core/bridge'
import { hostPaths, OWN_SOURCES } from '@sandbridge/core/config'
import { processContext } from '@sandbridge/core/config/settings'
import { count } from '@sandbridge/core/util/text'
import { estimateTokens } from '@sandbridge/core/util'
import { targetsOf } from '../plan/targets.ts'
import type { Finding } from '@sandbridge/core/serve/cli'

interface Parts extends Pick<OpenTenant, 'discovered' | 'settings'> {
  catalog: { of: (server: string) => Pick<ReturnType<OpenTenant['catalog']['of']>, 'tools'> }
}

export function checkClients({ discovered, settings, catalog }: Parts, context = processContext()): Finding[] {
  const targets = targetsOf(hostPaths(settings, context))
  const filesOfSelf = new Set(discovered.skipped.flatMap(({ file, kind }) => (kind === 'self' ? [file] : [])))
  return discovered.files.flatMap(({ client, file }): Finding[] => {
    if (OWN_SOURCES.has(client) || !filesOfSelf.has(file)) return []
    const beside = discovered.found.filter(({ definition, isDouble }) => definition.source.file === file && !isDouble)
    if (beside.length === 0) return []
    const listed = beside.map(({ name }) => catalog.of(name).tools ?? [])
    const tokens = listed.flat().reduce((sum, { definition }) => sum + estimateTokens(JSON.stringify(definition)), 0)
    const cost = tokens > 0 ? `, about ${tokens} tokens in each conversation` : ''
    const names = beside.map(({ definition }) => definition.name).join(', ')
    const message = `${client} lists the tools of ${count(beside.length, 'server')} itself, beside this bridge: ${names}${cost}.`
    const isTarget = targets.some(({ files }) => files.includes(file))
    const advice = isTarget ? `sandbridge init --move --client ${client}` : `Take them out of ${file}.`
    return [{ check: 'clients', level: 'warning', message, advice }]
  })
}
