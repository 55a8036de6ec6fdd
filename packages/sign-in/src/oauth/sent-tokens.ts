// Which token each refused request carried, and whether the server has accepted the newest one. A refusal can arrive
// late, when the token it is about has long been replaced. Pure.

export class SentTokens {
  readonly #refused = new WeakMap<Response, string>()
  #accepted: string | undefined

  /** @param authorization the Authorization header of the request */
  note(authorization: string | null, response: Response): void {
    const token = /^Bearer (.+)$/.exec(authorization ?? '')?.[1]
    if (token === undefined) return
    if (response.status === 401) this.#refused.set(response, token)
    else if (response.ok) this.#accepted = token
  }

  /** The token that the server refused with this response; undefined for a request without a token. */
  refusedBy(response: Response): string | undefined {
    return this.#refused.get(response)
  }

  /** True when the last request that succeeded carried this token. */
  wasAccepted(token: string | undefined): boolean {
    return token !== undefined && token === this.#accepted
  }
}
