// `sandbridge init`: registers the bridge in the clients of this machine. Shows every change first, and can undo it.
import { homedir } from 'node:os'
import { applyInit, undoInit } from '../config/init/apply-init.ts'
import { type InitPlan, planInit } from '../config/init/plan-init.ts'
import { discoverServers } from '../config/discover.ts'
import { bridgeCommand } from '../config/init/targets.ts'
import type { DiscoveredServers, ServerDefinition, SkippedEntry } from '../config/server-definition.ts'
import { PACKAGE_ROOT } from '../storage/package-root.ts'
import { readSettings } from '../config/settings.ts'
import { confirm } from './confirm.ts'
import { print, printJson, printStyled, visibleInline, type Style } from './print.ts'

interface InitOptions {
  yes?: boolean
  move?: boolean
  undo?: boolean
  client?: string[]
  dryRun?: boolean
  json?: boolean
}

export async function init(options: InitOptions): Promise<void> {
  const settings = readSettings(process.env)
  const { stateDir, serversConfig } = settings
  if (options.undo) {
    const { restored, skipped } = await undoInit(stateDir)
    if (options.json) return printJson({ restored, skipped })
    print(restored.map((file) => `restored ${file}`).join('\n') || 'Nothing to undo.')
    return printSkipped(skipped)
  }
  const place = {
    platform: process.platform,
    home: homedir(),
    cwd: process.cwd(),
    env: process.env,
    stateDir,
    serversConfig,
  }
  const plan = await planInit({
    place,
    command: bridgeCommand(PACKAGE_ROOT, process.execPath),
    ownPaths: process.argv.slice(1, 2),
    nameOf: namesIn(await discoverServers({ settings })),
    move: options.move ?? false,
    ...(options.client && { clients: options.client }),
  })
  if (options.json) return printJson(await asJson(plan, { ...options, stateDir }))
  printSkipped(plan.skipped)
  for (const client of plan.registered) print(`${client}: registered already`)
  for (const { client, file } of options.client ? plan.absent : [])
    print(visibleInline(`${client}: not found on this machine (no ${file})`))
  if (plan.changes.length === 0) return print(nothingToDo(plan, options))
  for (const { client, file, diff } of plan.changes) {
    print(`\n${client}: ${visibleInline(file)}`)
    for (const line of diff) printStyled(styleOf(line), line.replace(/\r$/, ''))
  }
  if (options.dryRun) return print('\nNothing was changed: this was a dry run.')
  if (!options.yes && !(await confirm('\nMake these changes? [y/N] '))) return print('Nothing was changed.')
  const { written, skipped } = await applyInit(plan.changes, stateDir)
  print(written.map((file) => `wrote ${file}`).join('\n'))
  printSkipped(skipped)
  print('Undo with `sandbridge init --undo`.')
}

function nothingToDo({ registered, skipped, absent }: InitPlan, options: InitOptions): string {
  if (options.client !== undefined || registered.length > 0 || skipped.length > 0) return 'Nothing to change.'
  return `No MCP client to register in was found. Looked for: ${absent.map(({ client }) => client).join(', ')}.`
}

/** For a program: the planned changes, and those made, which are none without `--yes`. */
async function asJson(
  { changes, registered, absent, skipped }: InitPlan,
  { yes = false, dryRun = false, stateDir }: InitOptions & { stateDir: string },
): Promise<object> {
  const planned = changes.map(({ client, file, diff }) => ({ client, file, diff }))
  const applied = yes && !dryRun ? await applyInit(changes, stateDir) : { written: [], skipped: [] }
  return {
    changes: planned,
    registered,
    absent,
    skipped: [...skipped, ...applied.skipped],
    written: applied.written,
  }
}

/** The current names of servers: a moved server keeps the name that the user knows. */
function namesIn({ found }: DiscoveredServers): (client: string, file: string, name: string) => string {
  return (client, file, name) => {
    const isIt = ({ source, name: own }: ServerDefinition): boolean =>
      own === name && source.client === client && source.file === file
    return found.find(({ definition }) => isIt(definition))?.name ?? name
  }
}

function styleOf(line: string): Style {
  if (line.startsWith('+')) return 'green'
  return line.startsWith('-') ? 'red' : 'dim'
}

function printSkipped(skipped: SkippedEntry[]): void {
  for (const { file, name, reason } of skipped)
    print(visibleInline(`skipped ${name === undefined ? '' : `${name} in `}${file}: ${reason}`))
}
