// What the core uses of HTTP.
import type { Store } from '@sandbridge/core/util/stores'
import { NamedTokens } from './access/named-tokens.ts'

export { runHttp } from './run-http.ts'

export async function namedUsers(store: Store): Promise<string[]> {
  return Object.keys(await new NamedTokens(store).list())
}
