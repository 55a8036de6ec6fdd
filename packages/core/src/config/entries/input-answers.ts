// The user's answers for inputs, kept in memory for the life of this process. Each is asked for once, one at a time.
import { BridgeError } from '../../errors.ts'
import { inputReferences } from './placeholders.ts'
import type { ServerDefinition, ServerInput } from './server-definition.ts'

/** Asks the user. Undefined when the user does not answer. */
export type AskInput = (server: string, input: ServerInput) => Promise<string | undefined>

export class InputAnswers {
  readonly #ask: AskInput | undefined
  /** By file and id. */
  readonly #answers = new Map<string, string | undefined>()
  #asking: Promise<unknown> = Promise.resolve()

  /** @param ask missing means that no user can be asked */
  constructor(ask?: AskInput) {
    this.#ask = ask
  }

  /**
   * Asks for the missing inputs of a definition, if a user can be asked.
   * @returns a function with the known answers
   * @throws BridgeError CONFIG_INVALID for a missing input that cannot be asked for
   */
  async forServer(
    definition: ServerDefinition,
    env: Record<string, string | undefined>,
  ): Promise<(id: string) => string | undefined> {
    for (const input of missingInputs(definition, env)) {
      if (input.type === 'command') throw notAskable(definition.name, input.id)
      // Another server may be asking for the same input at the moment.
      this.#asking = this.#asking.then(() => this.#answer(definition, input))
      await this.#asking
    }
    return (id) => this.#answers.get(keyOf(definition, id))
  }

  async #answer(definition: ServerDefinition, input: ServerInput): Promise<void> {
    const key = keyOf(definition, input.id)
    if (!this.#ask || this.#answers.has(key)) return
    // A declined question is remembered too, and is not asked again.
    const answer = await this.#ask(definition.name, input).catch(() => undefined)
    this.#answers.set(key, answer || undefined)
  }
}

/** An id is unique within its file. */
function keyOf({ source }: ServerDefinition, id: string): string {
  return JSON.stringify([source.file, id])
}

function notAskable(server: string, id: string): BridgeError {
  return new BridgeError(
    'CONFIG_INVALID',
    `${server}: the input "${id}" is the result of a command inside VS Code, which the bridge cannot run.`,
    { hint: `Set the environment variable ${inputVariable(id)}.` },
  )
}

export function inputVariable(id: string): string {
  return `MCP_INPUT_${id.toUpperCase().replaceAll(/\W/g, '_')}`
}

/** The inputs that must be asked for before the server can start. An input without a description counts as a secret. */
export function missingInputs(
  { transport, inputs = [] }: ServerDefinition,
  env: Record<string, string | undefined>,
): ServerInput[] {
  const ids = inputReferences(transport).flatMap(({ name, standard }) => (standard === undefined ? [name] : []))
  const missing = [...new Set(ids)].filter((id) => env[inputVariable(id)] === undefined)
  return missing.map((id) => inputs.find((input) => input.id === id) ?? { id, type: 'promptString', password: true })
}
