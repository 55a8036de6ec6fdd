// Why a bearer token is refused, as reported to its client (RFC 6750, section 3.1). Pure.

interface RefusalKind {
  status: 401 | 403 | 503
  /** `error` of the WWW-Authenticate header; missing when the token is not at fault. */
  error?: 'invalid_token' | 'insufficient_scope'
}

const KINDS = {
  invalid: { status: 401, error: 'invalid_token' },
  scope: { status: 403, error: 'insufficient_scope' },
  unavailable: { status: 503 },
} as const satisfies Record<string, RefusalKind>

/** The value of WWW-Authenticate. @param refusal missing when the request had no token */
export function bearerChallenge(parameters: Record<string, string>, refusal?: BearerRefusal): string {
  const error = refusal?.kind.error
  const all = Object.entries({ ...parameters, ...(error && { error, error_description: refusal.message }) })
  return ['Bearer', all.map(([name, value]) => `${name}="${value}"`).join(', ')].filter(Boolean).join(' ')
}

/** The message goes to an unauthenticated client, so it must not quote the token. */
export class BearerRefusal extends Error {
  override readonly name = 'BearerRefusal'
  readonly kind: RefusalKind

  constructor(kind: keyof typeof KINDS, message: string) {
    super(message)
    this.kind = KINDS[kind]
  }
}
