// `sandbridge find`: finds MCP servers in the registries by what they do. Adds and starts nothing.
import { loadSettings } from '@sandbridge/core/config/settings'
import { createLog, SILENT } from '@sandbridge/core/util'
import { summaryLine, summaryOf } from '../server/describe-server.ts'
import { openRegistries } from '../open-registries.ts'
import { count } from '@sandbridge/core/util/text'
import { print, printEmpty, printJson, printSummary, printTable } from '@sandbridge/core/serve/cli/terminal'
import { limitOf } from '@sandbridge/shared/terminal/limit-option.ts'
import { tell } from '@sandbridge/core/serve/cli/terminal'
import { ProgressBar } from '@sandbridge/shared/terminal/progress-bar.ts'

interface FindOptions {
  limit?: string
  offline?: boolean
  json?: boolean
}

const DEFAULT_LIMIT = 10

export async function find(query: string, options: FindOptions): Promise<void> {
  const limit = limitOf(options.limit) ?? DEFAULT_LIMIT
  const bar = new ProgressBar(process.stderr, process.env)
  const onProgress = (servers: number): void =>
    bar.listeners.onPreparing(`reading the registry: ${count(servers, 'server')}`)
  const settings = await loadSettings()
  const log = process.env['MCP_BRIDGE_LOG_LEVEL'] ? createLog(settings.logLevel) : SILENT
  const found = await openRegistries(settings, log)
    .find(query, { limit, offline: options.offline === true, onProgress })
    .finally(() => bar.clear())
  for (const note of found.notes) tell(note)
  const summaries = found.servers.map(summaryOf)
  if (options.json) return printJson(summaries)
  if (summaries.length === 0) return printEmpty('No server fits. Try other words, or fewer.')
  if (!process.stdout.isTTY) return summaries.forEach((one) => print(summaryLine(one)))
  printTable(
    summaries.map(({ name, runs, secrets, verified, description, deprecated }) => [
      { text: name, style: 'cyan' },
      runs[0] ?? 'cannot be added',
      secrets.join(' ') || '-',
      deprecated ? 'deprecated' : verified ? 'yes' : 'no',
      description,
    ]),
    { head: ['NAME', 'RUNS AS', 'SECRETS', 'VERIFIED', 'WHAT IT DOES'] },
  )
  printSummary(`Add one: sandbridge add ${summaries[0]!.name}`)
}
