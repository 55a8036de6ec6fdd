// Ten thousand made-up tools with texts of typical length, to measure how the catalog scales. The same in every run.
import type { UpstreamTool } from '../../../core/src/upstream/upstream.ts'

const ACTS =
  'create list get update delete search export import archive restore approve cancel assign merge publish'.split(' ')
const THINGS =
  'invoice customer ticket release pipeline dashboard contract shipment employee warehouse campaign survey'.split(' ')
const AREAS = 'billing support shipping hiring marketing security reporting storage messaging planning'.split(' ')
const FIELDS = 'page_size cursor status owner_id created_after label include_archived sort_order locale reason'.split(
  ' ',
)

/** @returns `serverCount` lists of equal length with `count` tools in all */
export function madeUpTools(count: number, serverCount: number): Map<string, UpstreamTool[]> {
  const servers = new Map<string, UpstreamTool[]>()
  for (let number = 0; number < count; number += 1) {
    const server = `service-${number % serverCount}`
    const list = servers.get(server) ?? []
    list.push(madeUpTool(number))
    servers.set(server, list)
  }
  return servers
}

function madeUpTool(number: number): UpstreamTool {
  const pick = (words: string[], step: number): string => words[Math.floor(number / step) % words.length]!
  const [act, thing, area] = [pick(ACTS, 1), pick(THINGS, ACTS.length), pick(AREAS, ACTS.length * THINGS.length)]
  const properties = Object.fromEntries(
    FIELDS.slice(number % 4, 4 + (number % 7)).map((field, index) => [
      field,
      {
        type: index % 3 === 0 ? 'integer' : 'string',
        description: `The ${field.replaceAll('_', ' ')} of the ${thing} in ${area}.`,
      },
    ]),
  )
  return {
    name: `${act}_${area}_${thing}_${number}`,
    description:
      `${act} a ${thing} of the ${area} department, number ${number}. Returns the ${thing} with its owner, its state and the ` +
      `history of its changes. Use it after looking up the ${area} account; it fails when the account is closed or the ${thing} is locked.`,
    inputSchema: {
      type: 'object',
      properties: { [`${thing}_id`]: { type: 'string' }, ...properties },
      required: [`${thing}_id`],
    },
  }
}
