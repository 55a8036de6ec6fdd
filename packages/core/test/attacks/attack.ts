// An attack: Python that tries one thing. It has escaped when it printed ESCAPED, printed a secret of the host, or left
// a trace on the host. The same list runs against every provider. Each attack must fail there, and must work once
// without protection.

/** The kinds of attack, as docs/security.md lists them. */
type AttackKind = 'javascript' | 'native' | 'network' | 'host' | 'kernel' | 'frames' | 'exhaustion' | 'separation'

export interface Attack {
  name: string
  kind: AttackKind
  /**
   * Python with top-level await. These names are set: FILE (a secret file), MARKER (a path to write), PORT and UDP_PORT
   * (listeners on 127.0.0.1), UNIX_SOCKET (another one), HOST_PID (the test's process).
   */
  code: string
  /** Where it must work: in this machine's python3, or in plain Pyodide in Node. */
  control: 'python' | 'pyodide'
  /** The providers it applies to; missing means all. */
  providers?: readonly string[]
  /** The control works only as root. For other users the attack is skipped, because it would prove nothing. */
  root?: true
  /** The control needs a machine with a network connection. Nothing is sent. */
  route?: true
  /** The control needs this processor architecture, as in process.arch. */
  machine?: string
}

/** Attacks on Pyodide only. */
export const PYODIDE_ONLY = { control: 'pyodide', providers: ['pyodide'] } as const
