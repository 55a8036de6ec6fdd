// The error of a request that needs its user to sign in, or to grant more.

interface About {
  ended?: string | undefined
  isKept?: boolean
  requiredScope?: string
}

/** Thrown in place of a response that refused a request. `loginNeeded` makes it the error for people. */
export class SignInRequired extends Error {
  /** The MCP client package passes an error of this name on as it is, also while it negotiates. */
  override readonly name = 'UnauthorizedError'
  /** Why the sign-in that there was is of no more use. */
  readonly ended: string | undefined
  /** It may work again. */
  readonly isKept: boolean
  /** The server wants further permissions; empty where it does not say which. */
  readonly requiredScope: string | undefined

  constructor({ ended, isKept = false, requiredScope }: About = {}) {
    super(requiredScope === undefined ? 'Unauthorized' : 'Insufficient scope')
    this.ended = ended
    this.isKept = isKept
    this.requiredScope = requiredScope
  }
}
