// The parts of oidc-provider that the tests use; it has no types of its own.
declare module 'oidc-provider' {
  import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'

  interface Grant {
    addResourceScope(resource: string, scope: string): void
    addOIDCScope(scope: string): void
    save(): Promise<string>
  }

  interface Interaction {
    uid: string
    prompt: { name: string; details: { missingResourceScopes?: Record<string, string[]> } }
    params: { client_id: string; scope?: string; resource?: string }
    session?: { accountId: string }
  }

  export class Provider {
    constructor(issuer: string, configuration: object)
    callback(): RequestListener
    Grant: new (parts: { accountId: string; clientId: string }) => Grant
    interactionDetails(request: IncomingMessage, response: ServerResponse): Promise<Interaction>
    interactionFinished(request: IncomingMessage, response: ServerResponse, result: object): Promise<void>
  }
}
