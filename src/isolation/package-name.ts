import path from 'node:path'

/** The name that an index knows a requirement by, or the beginning of a wheel's file name. */
export function packageName(word: string): string {
  const file = path.basename(word)
  return word.endsWith('.whl') ? file.split('-')[0]! : (/^[A-Za-z0-9][\w.-]*/.exec(word)?.[0] ?? word)
}
