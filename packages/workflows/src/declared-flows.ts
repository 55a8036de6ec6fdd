// The flows that a workflow declares: those of its recorded runs. The user may read and edit them. They are of one
// wording of the workflow and of the saved tools that it uses: where one has changed, it declares nothing.
import { hash } from 'node:crypto'
import * as z from 'zod'
import type { OpenTenant } from '@sandbridge/core/bridge'
import { flow as part } from '@sandbridge/core/parts'
import type { DeclaredFlow } from '@sandbridge/core/config/rules'
import { flowKeyOf, flowsOf } from '@sandbridge/permissions/rules/declared-flows.ts'
import { JsonDocument, type KeptOrigins, type Store } from '@sandbridge/core/util/stores'
import { reachedTools, type SavedToolContent, writtenText } from '@sandbridge/memories/saved/saved-tool.ts'
import type { SavedToolStore } from '@sandbridge/memories/saved/saved-tool-store.ts'
import { savedOf } from '@sandbridge/memories/saved/saved-things.ts'
import type { RecordedCode } from './share/recorded-code.ts'

const kept = z.object({
  /** Of the texts of the workflow and of the saved tools that it uses. */
  sha256: z.string(),
  flows: z.array(z.object({ from: z.string(), server: z.string(), tool: z.string(), argument: z.string() })),
})

type Kept = z.infer<typeof kept>

export class DeclaredFlows {
  readonly #document: JsonDocument<Kept>
  /** Of the texts of the workflow and of the saved tools that it uses. */
  readonly sha256: string

  /** Those of a workflow of the bridge's owner. */
  static async of(
    { stores, own }: Pick<OpenTenant, 'stores' | 'own'>,
    workflow: SavedToolContent,
  ): Promise<DeclaredFlows> {
    return new DeclaredFlows(stores.of(undefined), workflow, await writtenHash(workflow, savedOf(own).tools))
  }

  private constructor(store: Store, workflow: SavedToolContent, sha256: string) {
    this.sha256 = sha256
    this.#document = new JsonDocument<Kept>({
      document: store.document(`workflows/${workflow.name}/flows.json`),
      empty: () => ({ sha256: '', flows: [] }),
      parse: (json) => kept.safeParse(json).data,
      damaged: {
        code: 'STATE_DAMAGED',
        name: 'The file of the flows that the workflow declares',
        hint: 'Repair it, or delete it and run the workflow in a terminal.',
      },
    })
  }

  /**
   * @property flows missing before a run of this wording was recorded
   * @property hasChanged whether that was a run of another wording
   * @throws BridgeError STATE_DAMAGED
   */
  async read(): Promise<{ flows: DeclaredFlow[] | undefined; hasChanged: boolean }> {
    const { sha256, flows } = await this.#document.read()
    if (sha256 === this.sha256) return { flows, hasChanged: false }
    return { flows: undefined, hasChanged: sha256 !== '' }
  }

  /** Declares the flows of a run, too. */
  async add(flows: readonly DeclaredFlow[]): Promise<DeclaredFlow[]> {
    const { flows: all } = await this.#document.update((known) => {
      const before = known.sha256 === this.sha256 ? known.flows : []
      known.flows = [...new Map([...before, ...flows].map((flow) => [flowKeyOf(flow), flow])).values()]
      known.sha256 = this.sha256
    })
    return all
  }
}

/** Of the texts of a workflow and of the saved tools that it uses. A version's number may be used again. */
export async function writtenHash(
  workflow: SavedToolContent,
  savedTools: Pick<SavedToolStore, 'list'>,
): Promise<string> {
  const { tools } = await savedTools.list()
  const reached = [...reachedTools([workflow], tools).values()]
  return hash('sha256', JSON.stringify(reached.map(writtenText).toSorted()))
}

/** Why a workflow is not run where nobody looks at what it does: new code can hide where its values come from. */
export const CHANGED = 'its code, or that of a saved tool that it uses, has changed since its flows were declared'

/** The flows of recorded calls, found even if nothing followed flows during the run; none in a build without them. */
export async function flowsOfRecord({ cells, calls }: RecordedCode, origins: KeptOrigins): Promise<DeclaredFlow[]> {
  const flows = await part.ifHere()
  if (!flows) return []
  const flow = new flows.SessionFlow({ isTrusted: () => false, identityOf: () => undefined }, origins)
  for (const code of cells) flow.wrote(code)
  return calls.flatMap((call) => {
    const declared = flowsOf(call, flow)
    flow.returned({ server: call.server, name: call.tool }, call.result)
    return declared
  })
}
