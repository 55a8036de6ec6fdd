// Says why an engine could not start a container: the cause first, then what to do about it. Pure.
import { lastLine } from '@sandbridge/core/util/text'

/** What engines and runtimes write, and the remedy. The first that fits counts. */
const REMEDIES: readonly [says: RegExp, remedy: string][] = [
  [
    /opening seccomp profile|seccomp.*no such file/i,
    'This engine does not see the folder for temporary files, as docker of snap: set TMPDIR to a folder in your home that is not hidden',
  ],
  [/unknown (shorthand )?flag|unrecognized (option|argument)/i, 'It is too old: docker 20.10 or podman 4.0 is needed'],
  [
    /cgroups? in hybrid mode|cgroup controller .* not available|controllers? .*(delegat|not available)|cgroup.*permission denied/i,
    'This user may not limit memory and processes here: delegate cgroup v2 to the user (systemd: Delegate=yes), or use bubblewrap',
  ],
  [
    /exec format error/i,
    'The image is made for another processor than this machine has: pull or build it for this one',
  ],
  [
    /overlay|storage-driver|containers\/storage|no space left/i,
    'The storage of the engine is damaged or full: see `podman info` or `docker info`, and free or reset it',
  ],
  [/newuidmap|newgidmap|subuid|subgid/i, 'Give this user a range in /etc/subuid and /etc/subgid'],
  [/runtime .*(not found|unknown)|unknown runtime|OCI runtime .* not found/i, 'Check MCP_BRIDGE_OCI_RUNTIME'],
]

/** The program that the image should have was looked for in a container, and is not there. */
const NO_PYTHON = /python3[^\n]*(not found|no such file)|(executable file|stat) [^\n]*python3/i

/**
 * @param command the engine
 * @param stderr what its `run` wrote
 */
export function explainNoContainer(command: string, image: string, stderr: string): string {
  if (NO_PYTHON.test(stderr)) return `Image ${image} has no working python3. ${stderr}`
  const remedy = REMEDIES.find(([says]) => says.test(stderr))?.[1]
  const cause = lastSaying(stderr) ?? 'the engine gave no reason'
  return `${command} cannot start a container: ${cause}${remedy === undefined ? '' : `. ${remedy}`}`
}

/** The last line that is not only an advice. */
function lastSaying(stderr: string): string | undefined {
  const lines = stderr.split('\n').filter((line) => !/^(see '|run '|usage:)/i.test(line.trim()))
  return lastLine(lines.join('\n'))?.trim()
}
