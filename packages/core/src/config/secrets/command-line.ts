// A server's command line for people: as in its definition, quoted where needed, without secrets.
import type { RemoteServer, StdioServer } from '../entries/server-definition.ts'
import { createRedactor } from './redact.ts'
import { visibleInline, withVisibleBlanks } from '../../util/text/visible.ts'
import { shortened } from '../../util/text/server-words.ts'

const MAX_WORD_CHARS = 120
const MAX_LINE_CHARS = 400

/** `npx -y some-server --token=[redacted]`, or the URL of a remote server. Placeholders stay as written. */
export function commandLine(transport: StdioServer | RemoteServer): string {
  const redact = createRedactor(transport)
  if (transport.type !== 'stdio') return visibleInline(redact(transport.url).slice(0, MAX_LINE_CHARS))
  const words = [transport.command, ...transport.args].map((word) => shellWord(redact(word), MAX_WORD_CHARS))
  return words.join(' ').slice(0, MAX_LINE_CHARS)
}

/** For a decision about running or reaching it: whole and as written, with white space visible. */
export function wholeCommandLine(transport: StdioServer | RemoteServer): string {
  const words = transport.type === 'stdio' ? [transport.command, ...transport.args] : [transport.url]
  return words.map(wholeWord).join(' ')
}

export function wholeWord(text: string): string {
  return withVisibleBlanks(shellWord(text))
}

/** Quotes one word if needed, so that it is distinct, on one line and limited in length, if there is a limit. */
export function shellWord(text: string, maxChars = Infinity): string {
  const cut = shortened(text, maxChars)
  return /^[\w@%+=:,./${}[\]<>~^*-]+$/.test(cut) ? cut : visibleInline(JSON.stringify(cut))
}
