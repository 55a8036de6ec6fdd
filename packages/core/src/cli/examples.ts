// The examples in the help of each command, by its words; those of the program itself under the empty text.
import { features } from './package.ts'

const EXAMPLES: Record<string, readonly string[]> = {
  run: ['sandbridge run', 'sandbridge run --http 127.0.0.1:3910', 'sandbridge run --ui 7717'],
}

/** Formatted for the help; empty for a command without examples. */
export function examplesText(command: string): string {
  const ofFeatures = features.all.flatMap(({ examples }) => examples?.[command] ?? [])
  const lines = [...ofFeatures, ...(EXAMPLES[command] ?? [])]
  return lines.length === 0 ? '' : `\nExamples:\n${lines.map((line) => `  ${line}`).join('\n')}`
}
