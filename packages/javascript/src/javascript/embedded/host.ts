// The functions that QuickJS can call in the sandbox, defined in
// packages/core/src/isolation/pyodide/inside/javascript.js.

export interface Host {
  send: (line: string) => void
  print: (stream: 'stdout' | 'stderr', text: string) => void
  /** Runs a script under the name `file`, and returns its value. */
  evaluate: (source: string, file: string) => unknown
  /** Returns the module that removes types, loaded at its first use. */
  types: () => typeof import('../types.ts')
  /** Requests a line `turn`, sent when no other work is left. */
  turn: () => void
  connect: (
    receive: (line: string) => void,
    onRejection: (promise: Promise<unknown>, reason: unknown, isHandled: boolean) => void,
    moduleSource: (name: string) => string,
  ) => void
  /** Returns the file's bytes, or an error number. */
  readFile: (path: string) => ArrayBuffer | number
  writeFile: (path: string, content: ArrayBuffer, how: 'replace' | 'append') => number | undefined
  /** Returns JSON, or an error number. */
  file: (what: string, ...given: string[]) => string | number
}

let given: Host

export function setHost(functions: Host): void {
  given = functions
}

export function host(): Host {
  return given
}
