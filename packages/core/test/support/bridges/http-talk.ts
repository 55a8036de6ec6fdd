// A conversation over HTTP, in either era.
import type { Era, HttpBridge, HttpClient } from './http-bridge.ts'

/** A conversation whose variables last, in the way of its era. */
export class Talk {
  readonly client: HttpClient
  session: string | undefined
  readonly #era: Era

  constructor(client: HttpClient, era: Era) {
    this.client = client
    this.#era = era
  }

  async run(code: string, options: Parameters<HttpClient['call']>[1] = {}): Promise<string> {
    const { text } = await this.client.call({ code, ...(this.session && { session: this.session }) }, options)
    if (this.#era === 'legacy' || this.session) return text
    this.session = handleIn(text)
    return text.replace(/\n\[sandbridge: To keep.*\]$/, '')
  }
}

/** The session handle in the first result of a modern client. */
export function handleIn(text: string): string {
  return /\[sandbridge: To keep these variables, pass session="([\w-]+)"\.\]$/.exec(text)![1]!
}

export async function talk(
  bridge: HttpBridge,
  era: Era,
  options: Parameters<HttpBridge['connect']>[1] = {},
): Promise<Talk> {
  return new Talk(await bridge.connect(era, options), era)
}
