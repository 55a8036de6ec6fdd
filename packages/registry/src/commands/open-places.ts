// Opens files and folders of the user's to the jail of a registry's server: only those that its user opens, one by one.
// That an argument names a folder opens nothing, since the publisher wrote the argument.
import { processContext } from '@sandbridge/core/config/settings'
import path from 'node:path'
import type { OpenTenant } from '@sandbridge/core/bridge'
import { literal } from '../server/needed-inputs.ts'
import type { Addition } from '../adding/plan-addition.ts'
import { filledIn } from '../adding/quarantine.ts'
import { jails } from '@sandbridge/core/parts'
import { print, visibleInline } from '@sandbridge/core/serve/cli/terminal'
import { confirm } from '@sandbridge/shared/terminal/confirm.ts'

interface OpenOptions {
  /** All answers, by input id. */
  answers: ReadonlyMap<string, string>
  /** Answers that the user gave now. With `yes`, the places that they name are opened without asking. */
  given: ReadonlyMap<string, string>
  yes: boolean | undefined
}

/** @throws BridgeError CONFIG_INVALID for a missing answer */
export async function withOpenedPlaces(
  addition: Addition,
  { answers, given, yes = false }: OpenOptions,
  { set }: OpenTenant,
): Promise<Addition> {
  const { entry } = addition
  if (!('command' in entry) || !entry.sandbox) return addition
  const { home, stateDir, hidden } = set.connected.jailPlace
  const transport = filledIn(addition, { answers, context: { ...processContext(), home, cwd: home } })
  if (transport.type !== 'stdio') return addition
  const { filesystem = {} } = transport.sandbox ?? {}
  const isOpen = new Set([...(filesystem.allowRead ?? []), ...(filesystem.allowWrite ?? [])])
  const { userPlacesIn } = await jails.for(`The sandbox of ${addition.name}`)
  const named = await userPlacesIn(transport.args, {
    cwd: transport.cwd ?? home,
    home,
    stateDir,
    hidden: hidden(),
  })
  const ofUser = new Set([...given.values()].map((answer) => path.resolve(home, answer)))
  const opened: string[] = []
  for (const place of named.filter((one) => !isOpen.has(one))) {
    const what = visibleInline(place)
    if (yes ? ofUser.has(place) : await confirm(`Its arguments name ${what}. Let it read that? [y/N] `))
      opened.push(place)
    else print(`It does not see ${what}. To open that, name it in allowRead of its sandbox.`)
  }
  if (opened.length === 0) return addition
  const kept = entry.sandbox.filesystem ?? {}
  const allowRead = [...(kept.allowRead ?? []), ...opened.map(literal)]
  return { ...addition, entry: { ...entry, sandbox: { ...entry.sandbox, filesystem: { ...kept, allowRead } } } }
}
