// The placeholder syntax of definitions, and the translation of clients' own syntaxes into it. Pure.
//
//   ${NAME} ${NAME:-default}          an environment variable; also written ${env:NAME}
//   ${file:PATH} ${input:ID}          a file's text; a value that only the user knows
//   ${workspaceFolder} ${userHome}    and the other names in FOLDERS
//   ${$}                              a dollar sign
//
// Other dollar signs of a client with a smaller syntax become literal when its file is read.

/** The placeholders that a client's files may contain. */
export interface PlaceholderSyntax {
  /** `${NAME}` and `${NAME:-default}`. */
  braces?: boolean
  /** `$NAME`; `kept` where it stays as it is written when there is no such variable. */
  dollar?: boolean | 'kept'
  /** `%NAME%`, which stays as it is written when there is no such variable. */
  percent?: boolean
  /** `${env:NAME}`. */
  env?: boolean
  /** `${file:PATH}`. */
  file?: boolean
  /** `${input:ID}`, with the default values of inputs that have one. */
  inputs?: Record<string, string>
  /** `${workspaceFolder}`, `${userHome}` and similar names. */
  folders?: boolean
  /** `{env:NAME}` and `{file:PATH}`. */
  curly?: boolean
  /** Makes the path of a `{file:PATH}` absolute. */
  resolve?: (file: string) => string
}

const FOLDERS = ['workspaceFolder', 'workspaceFolderBasename', 'workspaceRoot', 'userHome', 'pathSeparator', '/']

/** The syntax of the bridge's own files: everything. */
export const OWN_SYNTAX: PlaceholderSyntax = { braces: true, env: true, file: true, inputs: {}, folders: true }

const DOLLAR = '${$}'

const PLACEHOLDER = /\$\{([^{}]*)\}/g

export interface Placeholder {
  /** Missing for `${NAME}`, which is a variable or a folder. */
  kind: 'env' | 'file' | 'input' | undefined
  name: string
  /** The text after `:-`. */
  standard: string | undefined
  /** The text between the braces. */
  written: string
}

function parse(written: string): Placeholder {
  const [, kind, name = '', standard] = /^(?:(env|file|input):)?(.*?)(?::-(.*))?$/s.exec(written) ?? []
  // One of the alternatives of the regular expression has matched.
  return { kind: kind as Placeholder['kind'], name, standard, written }
}

/** The placeholders of a text that are filled in from the user's machine: all except folders and dollar signs. */
export function placeholdersIn(text: string): Placeholder[] {
  // Most texts have none, and each command in a resident asks about all texts of its servers.
  if (!text.includes('${')) return []
  const all = [...text.matchAll(PLACEHOLDER)].map(([, written = '']) => parse(written))
  return all.filter(({ kind, name }) => kind !== undefined || (name !== '$' && !FOLDERS.includes(name)))
}

/** The inputs that a value's texts refer to. */
export function inputReferences(value: unknown): Placeholder[] {
  if (typeof value === 'string') return placeholdersIn(value).filter(({ kind }) => kind === 'input')
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(inputReferences) : []
}

export function fillPlaceholders(text: string, valueOf: (placeholder: Placeholder) => string): string {
  return text.replace(PLACEHOLDER, (_, written: string) => (written === '$' ? '$' : valueOf(parse(written))))
}

export function toOwnSyntax(text: string, syntax: PlaceholderSyntax): string {
  return text.replace(
    /\$\{([^{}]*)\}|\$\{|\$([A-Za-z_]\w*)|\{(env|file):([^{}]*)\}|%([A-Za-z_]\w*)%/g,
    (whole: string, inner?: string, bare?: string, curlyKind?: string, curlyName?: string, percent?: string) => {
      if (percent !== undefined) return syntax.percent ? `\${${percent}:-${whole}}` : whole
      if (bare !== undefined) {
        if (syntax.dollar === 'kept') return `\${${bare}:-$${bare}}`
        return syntax.dollar ? `\${${bare}}` : whole
      }
      if (curlyKind !== undefined) {
        const name = curlyKind === 'file' ? (syntax.resolve?.(curlyName ?? '') ?? curlyName) : curlyName
        return syntax.curly ? `\${${curlyKind}:${name ?? ''}}` : whole
      }
      if (inner !== undefined && isActive(inner, syntax)) return withDefault(inner, syntax)
      return `${DOLLAR}${whole.slice(1)}`
    },
  )
}

function isActive(inner: string, syntax: PlaceholderSyntax): boolean {
  if (FOLDERS.includes(inner)) return syntax.folders === true
  if (inner === '$') return syntax === OWN_SYNTAX
  const kind = /^(env|file|input):/.exec(inner)?.[1]
  if (kind === 'env') return syntax.env === true
  if (kind === 'file') return syntax.file === true
  if (kind === 'input') return syntax.inputs !== undefined
  return syntax.braces === true && /^[A-Za-z_]\w*(:-.*)?$/s.test(inner)
}

function withDefault(inner: string, syntax: PlaceholderSyntax): string {
  const id = /^input:(.*)$/s.exec(inner)?.[1]
  const standard = id !== undefined && syntax.inputs && Object.hasOwn(syntax.inputs, id) ? syntax.inputs[id] : undefined
  return standard === undefined || /[{}]/.test(standard) ? `\${${inner}}` : `\${${inner}:-${standard}}`
}

/** Translates every text of a value; keys stay unchanged. */
export function translate(value: object, syntax: PlaceholderSyntax): Record<string, unknown>
export function translate(value: unknown, syntax: PlaceholderSyntax): unknown
export function translate(value: unknown, syntax: PlaceholderSyntax): unknown {
  if (typeof value === 'string') return toOwnSyntax(value, syntax)
  if (Array.isArray(value)) return value.map((item) => translate(item, syntax))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, translate(item, syntax)]))
}
