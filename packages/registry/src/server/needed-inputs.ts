// Collects the inputs that the user must provide before a server can start, and their places in its entry. Pure.
import type { ServerJson } from './server-json.ts'

type KeyValue = ServerJson['packages'][number]['environmentVariables'][number]
type Variable = NonNullable<KeyValue['variables']>[string]

/** An input that the user provides. */
export interface NeededInput {
  /** `${input:ID}` in the texts of the entry. */
  id: string
  /** The publisher's name for it. */
  name: string
  description?: string | undefined
  secret: boolean
  choices?: string[] | undefined
}

/** Escapes a text so that it contains no placeholders. */
export function literal(text: string): string {
  return text.replaceAll('${', '${$}{')
}

/** Collects inputs and inserts `${input:ID}` in their places. */
export class Inputs {
  readonly needed: NeededInput[] = []
  readonly optional: string[] = []
  readonly #server: string
  readonly #wanted: ReadonlySet<string>

  constructor(server: string, wanted: readonly string[]) {
    this.#server = server
    this.#wanted = new Set(wanted)
  }

  /** The text for a value; undefined when it is left out. */
  valueOf({
    name,
    value,
    variables = {},
    ...given
  }: Omit<KeyValue, 'description'> & { description?: string | undefined }): string | undefined {
    if (value !== undefined) return this.template(value, variables)
    const isWanted = this.#wanted.has(name) || this.#wanted.has(this.#idOf(name))
    if (given.isRequired || isWanted) {
      // Use the default unless `--with` names the input.
      if (given.default !== undefined && !given.isSecret && !isWanted) return literal(given.default)
      return this.#ask(name, given)
    }
    if (given.default !== undefined && !given.isSecret) return literal(given.default)
    this.optional.push(name)
    return undefined
  }

  /** Fills in `{name}` in a fixed text. */
  template(text: string, variables: Record<string, Variable>): string {
    let done = ''
    let end = 0
    for (const match of text.matchAll(/\{([\w.-]+)\}/g)) {
      const [whole, name = ''] = match
      const variable = Object.hasOwn(variables, name) ? variables[name] : undefined
      if (!variable) continue
      done += literal(text.slice(end, match.index))
      done +=
        variable.value === undefined && (variable.default === undefined || variable.isSecret)
          ? this.#ask(name, variable)
          : literal(variable.value ?? variable.default ?? '')
      end = match.index + whole.length
    }
    return done + literal(text.slice(end))
  }

  #ask(
    name: string,
    {
      description,
      isSecret,
      choices,
    }: { description?: string | undefined; isSecret: boolean; choices?: string[] | undefined },
  ): string {
    const id = this.#idOf(name)
    if (!this.needed.some((input) => input.id === id)) {
      this.needed.push({ id, name, description, secret: isSecret, ...(choices?.length && { choices }) })
    }
    return `\${input:${id}}`
  }

  #idOf(name: string): string {
    return `${this.#server}_${name.replace(/^-+/, '')}`.replaceAll(/\W+/g, '_')
  }
}
