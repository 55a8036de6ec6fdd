// One unattended run of a workflow. A call that a rule would ask about is refused, unless it was allowed for this
// version when the run was scheduled; so is one whose flow the workflow does not declare.
import type { Bridge } from '../../../bridge/bridge.ts'
import type { RunOrigin } from '../../../bridge/cells.ts'
import { CHANGED, DeclaredFlows } from '../declared-flows.ts'
import { parseArguments } from '../parameters.ts'
import { RunJournal } from '../replay/run-journal.ts'
import { type Schedule, WORKFLOW_TIMEOUT_MS } from '../schedules.ts'
import { driftOf, usesNamed } from '../used-tools.ts'
import { asWorkflow, codeFor, functionName, watchedFlows } from '../workflow-cell.ts'

/**
 * @param due the time that `auto` parameters refer to
 * @returns the reason of a failure; undefined on success
 * @throws BridgeError when the workflow no longer exists or the parameters no longer fit it
 */
export async function runUnwatched(
  bridge: Bridge,
  { workflow: name, words, version, allowed }: Schedule,
  due: Date,
  run: RunOrigin,
): Promise<string | undefined> {
  const { own, catalog, settings } = bridge
  const workflow = asWorkflow(await own.savedTools.find(functionName(name)))
  const args = parseArguments(words, workflow.workflow.parameters, due)
  const { gone } = await driftOf(workflow.workflow, catalog, settings.packages)
  if (gone.length > 0) return `Nothing was called. ${gone.join(' ')}`
  const { flows: declared, hasChanged } = await (await DeclaredFlows.of(bridge, workflow)).read()
  const isOther = hasChanged || (declared === undefined && workflow.version !== version)
  if (isOther && bridge.rules.shared?.judgesFlow)
    return `Nothing was called: ${CHANGED}. Read it, and run it once in a terminal: sandbridge run-workflow ${name}`
  const journal = new RunJournal(settings.stateDir, workflow.name)
  await journal.begin(workflow.version, args)
  const session = bridge.sessions.open()
  try {
    const { status, error, notes } = await bridge.cells.run(session, {
      code: codeFor(workflow, args),
      timeoutMs: WORKFLOW_TIMEOUT_MS,
      upstreams: journal.watch(bridge.upstreams, catalog),
      allowed: workflow.version === version ? usesNamed(workflow.workflow.uses, allowed) : [],
      workflow: watchedFlows(workflow, declared),
      run,
    })
    if (status === 'ok') {
      await journal.end()
      return undefined
    }
    return error ? `${error.name}: ${error.message}` : `${status}. ${notes.join(' ')}`.trim()
  } finally {
    await bridge.sessions.close(session)
  }
}
