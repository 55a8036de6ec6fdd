// What the core uses of HTTP.
import type { Store } from '@sandbridge/core/keep/store.ts'
import type { HttpPart } from '@sandbridge/core/serve/http-part.ts'
import { NamedTokens } from './access/named-tokens.ts'
import { serveHttp } from './serve-http.ts'
import { SignInPages } from './sign-in-pages.ts'

export { parseAddress } from './sockets/address.ts'

export function openHttp(publicUrl: string | undefined): ReturnType<HttpPart['openHttp']> {
  const signInPages = publicUrl === undefined ? undefined : new SignInPages(publicUrl)
  return { signInPage: signInPages, serve: (bridge, options) => serveHttp(bridge, { ...options, signInPages }) }
}

export function namedTokens(store: Store): NamedTokens {
  return new NamedTokens(store)
}
