// Stores the SandboxClaims of the fake cluster unchanged. The controller's stand-in processes them.
import { randomUUID } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { applyPatch, send, status } from './answers.ts'

export interface Claim {
  metadata: { name: string; uid?: string }
  spec: { warmPoolRef: { name: string }; lifecycle?: Record<string, unknown> }
  status?: object
}

export class ClaimStore {
  readonly #claims = new Map<string, Claim>()

  list(): Claim[] {
    return [...this.#claims.values()]
  }

  answer(
    response: ServerResponse,
    { method, name, body }: { method: string; name: string | undefined; body: unknown },
  ): void {
    if (method === 'POST') {
      const claim = body as Claim
      claim.metadata.uid = randomUUID()
      this.#claims.set(claim.metadata.name, claim)
      return send(response, 201, claim)
    }
    if (name === undefined) return send(response, 200, { kind: 'SandboxClaimList', items: this.list() })
    const claim = this.#claims.get(name)
    if (!claim) {
      const why = `sandboxclaims.extensions.agents.x-k8s.io "${name}" not found`
      return send(response, 404, status(404, 'NotFound', why))
    }
    if (method === 'DELETE') this.#claims.delete(name)
    if (method === 'PATCH') this.#claims.set(name, applyPatch(claim, body)!)
    send(response, 200, this.#claims.get(name) ?? claim)
  }
}
