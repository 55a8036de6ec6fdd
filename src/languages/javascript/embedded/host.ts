// What QuickJS has of the sandbox around it: the functions of src/sandbox/pyodide/inside/javascript.js.

export interface Host {
  /** A line for the kernel. */
  send: (line: string) => void
  print: (stream: 'stdout' | 'stderr', text: string) => void
  /** Run a script that belongs to `file`; its value. */
  evaluate: (source: string, file: string) => unknown
  /** The module that takes types away, loaded when it is needed. */
  types: () => typeof import('../types.ts')
  /** Have a line `turn` come when nothing else is left to do. */
  turn: () => void
  connect: (
    receive: (line: string) => void,
    onRejection: (promise: Promise<unknown>, reason: unknown, isHandled: boolean) => void,
    moduleSource: (name: string) => string,
  ) => void
  /** Its bytes, or the number of what failed. */
  readFile: (path: string) => ArrayBuffer | number
  writeFile: (path: string, content: ArrayBuffer, how: 'replace' | 'append') => number | undefined
  /** JSON, or the number of what failed. */
  file: (what: string, ...given: string[]) => string | number
}

let given: Host

export function setHost(functions: Host): void {
  given = functions
}

export function host(): Host {
  return given
}
