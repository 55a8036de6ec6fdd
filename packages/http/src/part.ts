// What the core uses of HTTP.
import type { Store } from '@sandbridge/core/util/stores'
import { NamedTokens } from './access/named-tokens.ts'

export { runHttp } from './run-http.ts'

export function namedTokens(store: Store): NamedTokens {
  return new NamedTokens(store)
}
