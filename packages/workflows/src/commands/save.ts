// `sandbridge save`: a workflow, which needs no model, from recorded runs: their code and replies.
import { recordIn } from '@sandbridge/record/audit/other-files.ts'
import { flowLines } from '@sandbridge/permissions/rules/declared-flows.ts'
import { DeclaredFlows, flowsOfRecord } from '../declared-flows.ts'
import { recordedCode } from '../share/recorded-code.ts'
import { TimeLimit } from '@sandbridge/core/cell'
import { KeptOrigins } from '@sandbridge/core/util/stores'
import { count } from '@sandbridge/core/util/text'
import { FixtureFile } from '../replay/fixture.ts'
import { saveFromRecord } from '../share/save-from-record.ts'
import { asWorkflow, functionName } from '../workflow-cell.ts'
import { print, printJson } from '@sandbridge/core/serve/cli/terminal'
import { withBridge } from '@sandbridge/shared/open-bridge.ts'
import { savedOf } from '@sandbridge/memories/saved/saved-things.ts'

interface SaveOptions {
  param?: string[]
  description?: string
  json?: boolean
}

const TIMEOUT_MS = 120_000

/** @param runs prefixes of ids, in the order in which their code is joined */
export async function saveRuns(runs: readonly string[], title: string, options: SaveOptions): Promise<void> {
  const { param: parameters = [], description, json } = options
  await withBridge(async (bridge) => {
    const store = bridge.stores.of(undefined)
    const recorded = await recordedCode(recordIn(store), runs)
    const session = bridge.openSession()
    const saved = await saveFromRecord(
      recorded,
      { title, parameters, ...(description !== undefined && { description }) },
      {
        run: (code) => bridge.cells.run(session, { code, timeoutMs: TIMEOUT_MS, timeLimit: new TimeLimit(TIMEOUT_MS) }),
        find: (name) => savedOf(bridge.own).tools.find(name),
        fixtures: new FixtureFile(store, functionName(title)),
        declare: async (workflow) => {
          const flows = await DeclaredFlows.of(bridge, workflow)
          return flows.add(await flowsOfRecord(recorded, new KeptOrigins(store)))
        },
      },
    )
    if (json) return printJson(saved)
    const { version, signature, workflow } = asWorkflow(saved.workflow)
    print(`Saved '${title}', version ${version}: ${functionName(title)}${signature}`)
    for (const { server, tool } of workflow.uses) print(`  calls ${server}.${tool}`)
    for (const line of flowLines(saved.flows ?? [])) print(`  declares that ${line}`)
    if (saved.candidates.length > 0) print(`  could be parameters, with --param NAME: ${saved.candidates.join(', ')}`)
    print(
      saved.withoutReplies === undefined
        ? `  ${count(saved.replyCount, 'reply', 'replies')} recorded: sandbridge run-workflow ${title} --check`
        : `  no recorded responses: ${saved.withoutReplies}. Its first run records them.`,
    )
  })
}
