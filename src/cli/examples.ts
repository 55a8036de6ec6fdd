// The examples in the help of each command, by its words; the program's own are under the empty text.
import { features } from './feature.ts'

const EXAMPLES: Record<string, readonly string[]> = {
  '': ['sandbridge exec -c "1 + 1"'],
  run: ['sandbridge run', 'sandbridge run --http 127.0.0.1:3910', 'sandbridge run --ui 7717'],
  exec: [
    'sandbridge exec -c "print(runtime.capability_summary())"',
    'sandbridge exec report.py --servers github,files --images charts',
    'echo "2 ** 10" | sandbridge exec -',
  ],
  ui: ['sandbridge ui', 'sandbridge ui --port 7717'],
  sandboxes: ['sandbridge sandboxes', 'sandbridge sandboxes --remove 3f09a1b2'],
  token: ['sandbridge token', 'sandbridge token create ann --expires 90d'],
  'token list': ['sandbridge token list --json'],
  'token create': ['sandbridge token create ann --expires 90d'],
  'token revoke': ['sandbridge token revoke ann'],
  trust: ['sandbridge trust', 'sandbridge trust --list'],
  login: ['sandbridge login linear', 'sandbridge login linear --no-browser'],
  logout: ['sandbridge logout linear'],
  image: ['sandbridge image build data'],
  'image build': ['sandbridge image build', 'sandbridge image build data'],
}

/** Formatted for the help; empty for a command without examples. */
export function examplesText(command: string): string {
  const ofFeatures = features.all.flatMap(({ examples }) => examples?.[command] ?? [])
  const lines = [...ofFeatures, ...(EXAMPLES[command] ?? [])]
  return lines.length === 0 ? '' : `\nExamples:\n${lines.map((line) => `  ${line}`).join('\n')}`
}
