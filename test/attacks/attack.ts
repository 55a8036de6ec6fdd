// What an attack is: Python that tries one thing. It has escaped when it printed ESCAPED, printed a secret of the host's, or left a trace on the host.
// The same list runs against every provider; each attack must fail there and must have worked once where nothing protects.

/** The kinds of attack, as docs/security.md lists them. */
type AttackKind = 'javascript' | 'native' | 'network' | 'host' | 'kernel' | 'frames' | 'exhaustion' | 'separation'

export interface Attack {
  name: string
  kind: AttackKind
  /**
   * Python with top-level await. These names are set: FILE (a secret file), MARKER (a path to write), PORT and UDP_PORT (listeners on
   * 127.0.0.1), UNIX_SOCKET (another), HOST_PID (the test's process).
   */
  code: string
  /** Where it must work: the python3 of this machine, or plain Pyodide in Node. */
  control: 'python' | 'pyodide'
  /** The providers it makes sense for; missing means all of them. */
  providers?: readonly string[]
  /** The control works for root only: elsewhere the attack is skipped, since it would prove nothing. */
  root?: true
  /** The control needs a machine that is connected to a network. Nothing is sent. */
  route?: true
  /** The control needs a processor of this kind, as process.arch names it. */
  machine?: string
}

/** Attacks on what only Pyodide has. */
export const PYODIDE_ONLY = { control: 'pyodide', providers: ['pyodide'] } as const
