// `sandbridge schedule`: makes a bridge that serves HTTP run a workflow at set times, lists and removes schedules.
import { BridgeError } from '@sandbridge/core/errors.ts'
import { SavedToolStore } from '@sandbridge/memories/saved/saved-tool-store.ts'
import { shellWord } from '@sandbridge/core/config/secrets'
import { ago } from '@sandbridge/core/util/text'
import { nextTime } from '../schedule/cron-times.ts'
import { writtenHash } from '../declared-flows.ts'
import { type OwnOptions, parseTyped } from '../own-options.ts'
import { type Schedule, type ScheduledRun, ScheduleStore } from '../schedule/schedules.ts'
import { machineZone, namedZone } from '../schedule/time-zone.ts'
import { usesNamed } from '../used-tools.ts'
import { asWorkflow, functionName, type Workflow } from '../workflow-cell.ts'
import { print, printEmpty, printJson, printSummary, printTable, tell } from '@sandbridge/core/serve/cli/terminal'
import { ownStore } from '@sandbridge/shared/own-store.ts'
import { visible } from '@sandbridge/core/serve/cli/terminal'
import type { Cell } from '@sandbridge/core/serve/cli/terminal'

interface ScheduleOptions {
  allow?: string[]
  zone?: string
  remove?: boolean
  json?: boolean
}

/** @throws BridgeError TOOL_ARGUMENTS_INVALID for an invalid time or parameter, so that the first run does not fail */
export async function schedule(
  name: string | undefined,
  when: string | undefined,
  words: string[],
  options: ScheduleOptions,
  own: () => Promise<OwnOptions>,
): Promise<void> {
  const kept = await ownStore()
  const store = new ScheduleStore(kept)
  if (name === undefined) return list(store, new SavedToolStore(kept), options)
  if (options.remove && when !== undefined) {
    const hint = `A parameter of that name is written as -- --remove VALUE. To end it: sandbridge schedule ${name} --remove`
    throw new BridgeError('TOOL_ARGUMENTS_INVALID', `--remove takes only a name: leave out '${when}'`, { hint })
  }
  if (options.remove) {
    const had = await store.remove(name)
    if (had && options.json) return printJson({ removed: name })
    if (had) return print(`'${visible(name)}' is no longer scheduled.`)
    throw new BridgeError('STATE_NOT_FOUND', `Nothing is scheduled as '${name}'`, { hint: 'sandbridge schedule' })
  }
  if (when === undefined) {
    const hint = `For example: sandbridge schedule ${name} "0 8 * * 1"`
    throw new BridgeError('TOOL_ARGUMENTS_INVALID', 'The time is missing', { hint })
  }
  const savedTools = new SavedToolStore(kept)
  const workflow = asWorkflow(await savedTools.find(functionName(name)))
  const { title, parameters } = workflow.workflow
  parseTyped(words, parameters, await own())
  const { zone, note }: ReturnType<typeof machineZone> =
    options.zone === undefined ? machineZone() : { zone: namedZone(options.zone) }
  if (note !== undefined) tell(note)
  const next = nextTime(when, zone, new Date())
  const allowed = allowedOf(workflow, options.allow ?? [])
  const sha256 = await writtenHash(workflow, savedTools)
  const added = { workflow: title, when, zone, words, sha256, allowed }
  const { id, replaced, others } = await store.add(added, new Date())
  if (options.json) return printJson({ id, next: next.toISOString(), replaced, others })
  if (replaced.length > 0) print(`Replaced ${quoted(replaced)}: the same workflow, time and parameters.`)
  if (others.length > 0)
    print(`${title} stays scheduled as ${quoted(others)}, too. End one: sandbridge schedule ${others[0]} --remove`)
  print(`'${id}' runs next at ${local(next, zone)}, in a bridge that serves HTTP: sandbridge run --http 8080`)
}

const quoted = (ids: readonly string[]): string => ids.map((id) => `'${id}'`).join(', ')

async function list(store: ScheduleStore, savedTools: SavedToolStore, { json }: ScheduleOptions): Promise<void> {
  const all = Object.entries(await store.list())
  const unreadable = await store.unreadable()
  const { tools } = await savedTools.list()
  const workflows = new Set(tools.map(({ workflow }) => workflow?.title))
  if (json) {
    const rows = all.map(([id, one]) => ({ id, ...one, next: nextOf(one)?.toISOString() }))
    return printJson([...rows, ...unreadable.map((id) => ({ id, unreadable: true }))])
  }
  if (all.length + unreadable.length === 0)
    return printEmpty('Nothing is scheduled. Begin with: sandbridge schedule NAME "0 8 * * 1"')
  printTable(
    [
      ...all.map(([id, one]): Cell[] => [
        { text: id, style: 'cyan' },
        one.when,
        workflows.has(one.workflow) ? nextText(one) : `fails: the workflow '${one.workflow}' is gone`,
        lastOf(one),
      ]),
      ...unreadable.map((id): Cell[] => {
        const remedy = `This schedule cannot be read. Remove it: sandbridge schedule ${shellWord(id)} --remove`
        return [{ text: id, style: 'cyan' }, '', { text: 'never', style: 'red' }, remedy]
      }),
    ],
    { head: ['NAME', 'WHEN', 'NEXT', 'LAST'] },
  )
  printSummary('A bridge that serves HTTP runs them: sandbridge run --http 8080')
}

function nextOf({ when, zone }: Schedule): Date | undefined {
  try {
    return nextTime(when, zone, new Date())
  } catch {
    return undefined
  }
}

function nextText(one: Schedule): string {
  const next = nextOf(one)
  return next ? local(next, one.zone) : 'never'
}

/** The last due time, and the last run if that is another one. */
function lastOf({ runs }: Schedule): string {
  const last = runs.at(-1)
  if (!last) return 'not yet'
  const made = runs.findLast(({ startedAt }) => startedAt !== undefined)
  return [last, ...(made && made !== last ? [made] : [])].map(outcomeOf).join(' Before that: ')
}

function outcomeOf({ due, outcome, waitsFor, message }: ScheduledRun): string {
  const state = outcome ?? (waitsFor === undefined ? 'running' : 'waiting')
  const why = message ?? (state === 'waiting' ? `The run of ${waitsFor} has not ended.` : undefined)
  return [`${state} ${ago(new Date(due).getTime(), Date.now())}`, ...(why === undefined ? [] : [why])].join(': ')
}

function local(time: Date, zone: string): string {
  return `${time.toLocaleString('sv-SE', { timeZone: zone, dateStyle: 'short', timeStyle: 'short' })} ${zone}`
}

/**
 * @throws BridgeError TOOL_ARGUMENTS_INVALID for a tool that the workflow does not name, and a name that two tools have
 */
function allowedOf({ workflow }: Workflow, tools: string[]): string[] {
  const used = workflow.uses.map(({ server, tool }) => `${server}__${tool}`)
  const unknown = tools.find((tool) => !used.includes(tool))
  const several = tools.find((tool) => usesNamed(workflow.uses, [tool]).length > 1)
  if (several !== undefined) {
    const pairs = usesNamed(workflow.uses, [several]).map(({ server, tool }) => `'${tool}' of server '${server}'`)
    const message = `'${several}' is the name of two tools that ${workflow.title} uses: ${pairs.join(' and ')}`
    throw new BridgeError('TOOL_ARGUMENTS_INVALID', message, { hint: 'Rename one of the servers.' })
  }
  if (unknown === undefined) return tools
  const hint = used.length === 0 ? 'Allow it by a rule in permissions.json.' : `It names: ${used.join(', ')}.`
  throw new BridgeError('TOOL_ARGUMENTS_INVALID', `${workflow.title} does not name the tool '${unknown}'`, { hint })
}
