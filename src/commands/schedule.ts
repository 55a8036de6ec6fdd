// `sandbridge schedule`: prints what makes this machine's timers run a workflow. It sets up nothing by itself.
import path from 'node:path'
import { readSettings } from '../config/settings.ts'
import { BridgeError } from '../errors.ts'
import { SavedToolStore } from '../state/saved-tool-store.ts'
import { parseArguments } from '../workflows/parameters.ts'
import { cronEntry, launchdList, systemdUnits, type TimerEntry } from '../workflows/timer-entries.ts'
import { asWorkflow, functionName } from '../workflows/workflow-cell.ts'

const PRINTERS: Record<string, (entry: TimerEntry) => string> = {
  cron: cronEntry,
  systemd: systemdUnits,
  launchd: launchdList,
}

/** @throws BridgeError TOOL_ARGUMENTS_INVALID for a time or a parameter that is wrong: better now than at eight on Monday */
export async function schedule(
  name: string,
  when: string,
  words: string[],
  { print: system }: { print: string },
): Promise<void> {
  const printer = Object.hasOwn(PRINTERS, system) ? PRINTERS[system] : undefined
  if (!printer) {
    const hint = `Write --print with one of ${Object.keys(PRINTERS).join(', ')}.`
    throw new BridgeError('TOOL_ARGUMENTS_INVALID', `'${system}' is not known to run timers`, { hint })
  }
  const { stateDir } = readSettings(process.env)
  const { workflow } = asWorkflow(await new SavedToolStore(stateDir).find(functionName(name)))
  parseArguments(words, workflow.parameters)
  const program = [process.execPath, path.resolve(process.argv[1]!)]
  // As it is: other programs read it.
  process.stdout.write(
    printer({ name: workflow.title, when, command: [...program, 'run-workflow', workflow.title, ...words] }),
  )
}
