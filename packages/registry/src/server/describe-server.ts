// A registry's server in brief: what it does, how it runs, its secrets, whether its publisher is verified. Pure.
import { firstSentence } from '@sandbridge/core/util/text'
import type { FoundServer } from '../directory/registries.ts'
import type { ServerJson } from './server-json.ts'

const DESCRIPTION_CHARS = 120
const MAX_SECRETS = 8

const KINDS: Record<string, string> = {
  npm: 'npm package',
  pypi: 'Python package',
  oci: 'container image',
  mcpb: 'MCPB file',
}

export type ServerSummary = ReturnType<typeof summaryOf>

export function summaryOf({ server, registry, verified, deprecated }: FoundServer) {
  const { name, version, description, title } = server
  return {
    name,
    version,
    description: firstSentence(description ?? title ?? '', DESCRIPTION_CHARS),
    /** `npm package`, `remote (http)` and so on, first the one that would be added. */
    runs: runsOf(server),
    secrets: secretsOf(server),
    verified,
    deprecated,
    registry,
  }
}

/** One line for a model or a pipe. The publisher's text follows the `#`. */
export function summaryLine(summary: ServerSummary): string {
  const { name, version, description, runs, secrets, verified, deprecated } = summary
  const parts = [
    runs[0] ?? 'cannot be added',
    secrets.length > 0 ? `secrets: ${secrets.join(', ')}` : 'no secrets',
    verified ? 'publisher verified' : 'publisher not verified',
    ...(deprecated ? ['deprecated'] : []),
  ]
  return `${name} ${version} (${parts.join('; ')})  # ${description}`
}

function runsOf({ packages, remotes }: ServerJson): string[] {
  const local = packages.flatMap(({ registryType }) => KINDS[registryType] ?? [])
  const far = remotes.map(({ type }) => (type === 'sse' ? 'remote (sse)' : 'remote (http)'))
  return [...new Set([...local, ...far])]
}

/** The names of its secret inputs. */
function secretsOf({ packages, remotes }: ServerJson): string[] {
  const given = [
    ...packages.flatMap(({ environmentVariables, packageArguments, runtimeArguments }) => [
      ...environmentVariables,
      ...packageArguments,
      ...runtimeArguments,
    ]),
    ...remotes.flatMap(({ headers }) => headers),
  ]
  const names = given.flatMap(({ name = 'an argument', isSecret, variables = {} }) => [
    ...(isSecret ? [name] : []),
    ...Object.entries(variables).flatMap(([variable, { isSecret: hidden }]) => (hidden ? [variable] : [])),
  ])
  const ofAddress = remotes.flatMap(({ variables = {} }) =>
    Object.entries(variables).flatMap(([variable, { isSecret }]) => (isSecret ? [variable] : [])),
  )
  return [...new Set([...names, ...ofAddress])].slice(0, MAX_SECRETS).map((name) => firstSentence(name, 60))
}
