// What a cell and its caller learn about a server that the project defines and the owner has not trusted: its name, and
// who can allow it. Only a cell or caller that named the server learns this.
import { serverAlias } from '../util/text/python-name.ts'
import type { CellError } from '../cell/cell-result.ts'
import type { ServerDefinition } from '../config/entries/server-definition.ts'
import { BridgeError } from '../errors.ts'

const HINT = 'Ask the user to read its config file and to run `sandbridge trust` in the project.'
const PERSON_HINT = 'Read that file, and allow its servers with `sandbridge trust`.'

/** @throws BridgeError PROXY_SERVER_UNAVAILABLE when one of `requested` is not trusted */
export function refuseUntrusted(requested: readonly string[] = [], untrusted: readonly ServerDefinition[]): void {
  const found = untrusted.find(({ name }) => requested.includes(name))
  if (!found) return
  const text = `Server '${found.name}' is defined by an untrusted project file: ${found.source.file}`
  throw new BridgeError('PROXY_SERVER_UNAVAILABLE', text, { hint: HINT, userHint: PERSON_HINT })
}

/** Returns the error of a cell that used such a server, with a hint. */
export function withTrustHint(
  failed: CellError,
  untrusted: readonly ServerDefinition[],
  forPerson: boolean,
): CellError {
  const found = untrusted.find(({ name }) => namesServer(failed, name))
  if (!found) return failed
  const text = `Server '${found.name}' is defined by an untrusted project file`
  return { ...failed, hint: forPerson ? `${text}: ${found.source.file}. ${PERSON_HINT}` : `${text}. ${HINT}` }
}

function namesServer({ name: kind, message }: CellError, server: string): boolean {
  const isUnknown = kind === 'NameError' || kind === 'ImportError' || /is not available/.test(message)
  return isUnknown && [`'mcp_${serverAlias(server, 'server')}'`, `'${server}'`].some((text) => message.includes(text))
}
