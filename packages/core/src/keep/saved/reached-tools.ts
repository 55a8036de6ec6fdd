// Which saved tools the code of some tools can reach: those that it names, and what these name. Pure.
import type { SavedToolContent } from './saved-tool.ts'

/** @returns the tools by name, `from` among them */
export function reachedTools<T extends SavedToolContent>(from: readonly T[], all: readonly T[]): Map<string, T> {
  const reached = new Map(from.map((tool) => [tool.name, tool]))
  // Entries that are added during the loop are visited, too.
  for (const { imports, source } of reached.values()) {
    const words = new Set(`${imports.join(' ')} ${source}`.match(/\w+/g))
    for (const tool of all) if (words.has(tool.name) && !reached.has(tool.name)) reached.set(tool.name, tool)
  }
  return reached
}
