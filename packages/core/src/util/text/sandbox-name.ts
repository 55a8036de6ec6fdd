// What a reader is told about which sandbox runs cells. Pure.

/** `pyodide` says nothing to a reader who has not chosen it; the other providers are programs of the machine. */
export function sandboxName(provider: string): string {
  return provider === 'pyodide' ? 'embedded (pyodide)' : provider
}
