// Parses YAML, for Goose. Loaded only when such a file exists. Pure.
import { isScalar, type Node, parseDocument, visit } from 'yaml'
import type { Parsed } from './jsonc.ts'

/** No configuration needs so many. The library compares each with all anchors and aliases before it. */
const MAX_ALIASES = 1_000

/** A project's file is read before anybody trusts it, and YAML takes seconds for each MiB. */
const MAX_CHARS = 2 ** 20

export function parseYaml(text: string): Parsed {
  if (text.length > MAX_CHARS) return { reason: `is too large for YAML: the limit is ${MAX_CHARS} characters` }
  // Warnings would quote the file on stderr. Each key is compared with all of its map: below, that is fast.
  const yaml = parseDocument(text, { logLevel: 'error', uniqueKeys: false })
  const [first] = yaml.errors
  if (first !== undefined) return { reason: `is not valid YAML: ${first.code}`, offset: first.pos[0] }
  let isCyclic = false
  let aliasCount = 0
  let double: Node | undefined
  // The newest node with each anchor. The library would look for it through the whole text, for each alias.
  const anchored = new Map<string, Node>()
  visit(yaml, {
    Value: (_key, node) => {
      if (node.anchor !== undefined) anchored.set(node.anchor, node)
    },
    Map: (_key, map) => {
      if (map.anchor !== undefined) anchored.set(map.anchor, map)
      const keys = new Set<unknown>()
      for (const { key } of map.items) {
        const value = isScalar(key) ? key.value : key
        if (keys.has(value)) double ??= key as Node
        keys.add(value)
      }
    },
    // An alias can only refer to an earlier anchor, so a cycle needs an alias inside the node that it refers to.
    Alias: (_key, { source }, within) => {
      aliasCount += 1
      const meant = anchored.get(source)
      isCyclic ||= meant !== undefined && within.includes(meant)
    },
  })
  if (double) return { reason: 'is not valid YAML: DUPLICATE_KEY', ...(double.range && { offset: double.range[0] }) }
  if (isCyclic) return { reason: 'has a YAML alias that leads back to itself' }
  if (aliasCount > MAX_ALIASES) return { reason: `has more than ${MAX_ALIASES} YAML aliases` }
  try {
    return { value: yaml.toJS() as unknown }
  } catch {
    // Nested aliases could expand to values that fill the memory.
    return { reason: 'has YAML aliases that cannot be resolved' }
  }
}
