// The records of all configured servers, by the names that a cell may use.
import { trustRank } from '../../config/merge-definitions.ts'
import type { ServerDefinition } from '../../config/entries/server-definition.ts'
import { BridgeError } from '../../errors.ts'
import { foldName, serverAliases } from '../../util/text/python-name.ts'
import type { ServerRecord } from './server-record.ts'

export class ServerRecords {
  /** In configuration order. */
  readonly byName = new Map<string, ServerRecord>()
  readonly #aliases = new Map<string, string>()

  /** Applies a new list of servers. A server whose definition and alias are unchanged keeps its record. */
  redefine(
    definitions: readonly ServerDefinition[],
    create: (definition: ServerDefinition, alias: string) => ServerRecord,
  ): void {
    const before = new Map(this.byName)
    const namesFrom = (rank: number) => definitions.filter((one) => trustRank(one) === rank).map(({ name }) => name)
    const aliases = serverAliases([0, 1, 2].map(namesFrom))
    this.#aliases.clear()
    this.byName.clear()
    for (const definition of definitions) {
      const { name } = definition
      const alias = aliases.get(name)!
      const known = before.get(name)
      const record = known?.isOf(definition, alias) ? known : create(definition, alias)
      this.#aliases.set(alias, name)
      this.byName.set(name, record)
      if (record !== known) void known?.flush()
    }
  }

  /** @throws BridgeError PROXY_SERVER_UNAVAILABLE for an unknown name */
  of(server: string): ServerRecord {
    const record = this.byName.get(server)
    if (record === undefined) throw new BridgeError('PROXY_SERVER_UNAVAILABLE', `Server '${server}' is not available`)
    return record
  }

  /** The true name of a server given by name or alias, in any case; undefined when no server has it. */
  resolve(nameOrAlias: string): string | undefined {
    const byAlias = this.#aliases.get(nameOrAlias) ?? this.#aliases.get(nameOrAlias.replace(/^mcp_/, ''))
    const named = this.byName.get(nameOrAlias)
    // One server's name may be another's alias: the more trusted server wins.
    if (named && (byAlias === undefined || named.rank <= this.of(byAlias).rank)) return nameOrAlias
    if (byAlias !== undefined) return byAlias
    const folded = foldName(nameOrAlias)
    const same = [...this.byName.keys()].filter((name) => foldName(name) === folded)
    return same.length === 1 ? same[0] : undefined
  }
}
