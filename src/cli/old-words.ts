// Commands as version 0.2 had them: they still work, and say what to type now.
import { visible } from './terminal/print.ts'

/** Capital words stand for what follows. */
const NOW: Readonly<Record<string, string>> = {
  'artifacts list': 'artifacts',
  'artifacts show': 'artifacts NAME',
  'artifacts rm': 'artifacts --remove NAME',
  'sandboxes list': 'sandboxes',
  'sandboxes remove': 'sandboxes --remove ID',
  'saved list': 'saved',
  'saved show': 'saved NAME',
  'saved rm': 'saved --remove NAME',
  'profile list': 'profile',
  'profile set': 'profile NAME SERVERS',
  'profile rm': 'profile --remove NAME',
  'permissions list': 'permissions',
  'permissions check': 'permissions TOOL ARGUMENTS',
  'permissions allow': 'permissions --allow TOOLS',
  'config list': 'config',
  'config set': 'config NAME VALUE',
  'config unset': 'config --remove NAME',
  'config path': 'config --path',
  'config check': 'config --check',
}

/** The words of a command line as they are typed now. @param warn gets a line when they were others */
export function wordsOfNow(words: readonly string[], warn: (line: string) => void): readonly string[] {
  const old = words.slice(0, 2).join(' ')
  const now = Object.hasOwn(NOW, old) ? NOW[old] : undefined
  if (now === undefined) return words
  warn(visible(`sandbridge: \`sandbridge ${old}\` is now \`sandbridge ${now}\`\n`))
  return [...now.split(' ').filter((word) => word !== word.toUpperCase()), ...words.slice(2)]
}
