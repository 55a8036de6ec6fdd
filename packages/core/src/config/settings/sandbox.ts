// Settings of sandboxes, and of masking data that the model sees.
import { IMAGE_NAME } from '../entries/server-definition.ts'
import { absolutePath } from '../../util/files/absolute-path.ts'
import {
  choice,
  list,
  optionalNumber,
  optionalWholeNumber,
  pattern,
  seconds,
  size,
  wholeNumber,
  wholeNumberAtLeast,
  TEXT,
  type Setting,
  isHttpUrl,
} from './setting-kinds.ts'

/** A host folder mounted for cells. */
interface Mount {
  path: string
  mode: 'ro' | 'rw'
}

const mount: Setting<Mount | undefined> = {
  variable: 'MCP_BRIDGE_MOUNT',
  meaning:
    'A host folder that cells can read, below `/mnt`. With `:rw` at the end they can write to it. Its name may contain letters, digits, spaces and `.` `_` `-`; a symbolic link with such a name works, too.',
  defaultText: 'none',
  allowed: 'an absolute path, optionally followed by :ro or :rw',
  json: TEXT,
  whenMissing: () => undefined,
  parse: (text, { home }) => {
    const match = /^(.+?)(?::(ro|rw))?$/.exec(text)
    if (!match?.[1] || !/^([/~\\]|[A-Za-z]:[/\\])/.test(match[1])) return undefined
    return { path: absolutePath(match[1], home), mode: match[2] === 'rw' ? 'rw' : 'ro' }
  },
}

/** An absolute path is a root folder; anything else that starts like a path is not an image name. */
const image: Setting<string | undefined> = {
  variable: 'MCP_BRIDGE_IMAGE',
  meaning:
    'The image for cells, with Python. Bubblewrap uses one only if this is set, and takes a folder or an archive as well.',
  defaultText: 'python:3.14-slim for containers',
  allowed: 'an image name such as python:3.14-slim, or an absolute path',
  json: TEXT,
  whenMissing: () => undefined,
  parse: (text, { home }) => {
    if (/^([/~\\]|[A-Za-z]:[/\\])/.test(text)) return absolutePath(text, home)
    return IMAGE_NAME.test(text) ? text : undefined
  },
}

/**
 * A path, a wheel, or a requirement such as `pandas[excel]>=2`. The words are passed to an installer's command line:
 * never an option, and never a URL, a repository or an archive, whose code pip runs on this machine in spite of
 * `--only-binary`.
 */
export const PACKAGE_WORD = new RegExp(
  [
    String.raw`^(?:(?:~?[/\\]|\.{1,2}[/\\]|[A-Za-z]:[/\\])\S*`,
    String.raw`|[^\s:-][^\s:]*\.whl`,
    String.raw`|(?![^;]*\.(?:zip|t[a-z]z|tar(?:\.\w+)?)(?:;|$))`,
    String.raw`[A-Za-z0-9][\w.-]*(?:\[[\w.,-]*\])?(?:[<>=!~][\w.*+!,<>=~-]*)?(?:;\S+)?)$`,
  ].join(''),
)

const RUNTIMES = ['auto', 'podman', 'docker', 'bubblewrap', 'pyodide', 'kubernetes'] as const
const runtimeByName = choice(
  { variable: 'MCP_BRIDGE_RUNTIME', meaning: 'The sandbox that isolates Python. `auto` uses the first that works.' },
  RUNTIMES,
  'auto',
  { bwrap: 'bubblewrap', k8s: 'kubernetes' },
)

/** By name, or by the path of the program, whose file name is used. */
const runtime: Setting<(typeof RUNTIMES)[number]> = {
  ...runtimeByName,
  parse: (text, context) => runtimeByName.parse(/[/\\]/.test(text) ? programName(text) : text, context),
  remark: (text) =>
    /[/\\]/.test(text) ? `MCP_BRIDGE_RUNTIME=${text} selects ${programName(text)}, found through PATH.` : undefined,
}

function programName(file: string): string {
  return (file.split(/[/\\]/).at(-1) ?? '').replace(/\.exe$/i, '')
}

export const MASK_KINDS = ['email', 'phone', 'card', 'iban', 'ip', 'secret'] as const
export type MaskKind = (typeof MASK_KINDS)[number]

const mask: Setting<readonly MaskKind[]> = {
  variable: 'MCP_BRIDGE_MASK',
  meaning: 'Kinds of personal data that the model gets as tokens such as `[EMAIL_1]`, and never as they are.',
  defaultText: 'none',
  allowed: `all, or names separated by commas: ${MASK_KINDS.join(', ')}`,
  json: { type: 'array', items: { type: 'string', enum: ['all', ...MASK_KINDS] }, minItems: 1 },
  separator: ',',
  whenMissing: () => [],
  parse: (text) => {
    const words = text
      .toLowerCase()
      .split(/[\s,]+/)
      .filter((word) => word !== '')
    if (words.length === 1 && words[0] === 'all') return MASK_KINDS
    return words.every((word) => MASK_KINDS.some((kind) => kind === word))
      ? MASK_KINDS.filter((kind) => words.includes(kind))
      : undefined
  },
}

const maskEndpoint: Setting<string | undefined> = {
  variable: 'MCP_BRIDGE_MASK',
  member: 'endpoint',
  key: 'maskEndpoint',
  meaning: 'An endpoint in the form of Presidio Analyzer that finds names, which the model then gets as `[PERSON_1]`.',
  defaultText: 'none',
  allowed: 'an http or https URL',
  json: TEXT,
  whenMissing: () => undefined,
  parse: (text) => (isHttpUrl(text) ? text : undefined),
  secret: true,
}

const pyodideUrl: Setting<string | undefined> = {
  variable: 'MCP_BRIDGE_RUNTIME',
  member: 'mirror',
  key: 'mirror',
  meaning: 'A mirror of the folder that has the packages of Pyodide, for the embedded sandbox. Hashes are checked.',
  defaultText: "Pyodide's own address",
  allowed: 'an http or https URL without a user name',
  json: TEXT,
  whenMissing: () => undefined,
  // The names of files follow it.
  parse: (text) => (isHttpUrl(text) && new URL(text).username === '' ? text.replace(/\/*$/, '/') : undefined),
}

export const SANDBOX_SETTINGS = {
  runtime,
  memoryBytes: size(
    {
      variable: 'MCP_BRIDGE_MEMORY',
      meaning: 'The memory limit of one sandbox. With packages, the default is 1g. The embedded sandbox needs 272m.',
    },
    { default: '512m', min: '64m' },
  ),
  poolCount: wholeNumber(
    { variable: 'MCP_BRIDGE_POOL', meaning: 'The number of sandboxes started in advance.' },
    { default: 1, min: 0, max: 16 },
  ),
  poolMaxCount: {
    ...optionalWholeNumber(
      {
        variable: 'MCP_BRIDGE_POOL',
        member: 'max',
        key: 'poolMax',
        meaning:
          'How many sandboxes may be kept waiting: more than `MCP_BRIDGE_POOL` where sessions begin faster than sandboxes start.',
      },
      { min: 1, max: 64 },
    ),
    defaultText: 'as many as the pool has',
  },
  image,
  forkServer: choice(
    {
      variable: 'MCP_BRIDGE_FORK_SERVER',
      meaning:
        'Fork each bubblewrap sandbox from one running process, which takes milliseconds. `auto` does so with the Python of this machine, `on` also with an image’s.',
    },
    ['auto', 'on', 'off'],
    'auto',
  ),
  cpus: optionalNumber({ variable: 'MCP_BRIDGE_CPUS', meaning: 'The CPU limit of a container.' }, 1024),
  containerUser: pattern(
    { variable: 'MCP_BRIDGE_CONTAINER_USER', meaning: 'The user and group inside a container.' },
    { allowed: 'user or user:group, such as 65534:65534', matches: /^\w[\w-]*(:\w[\w-]*)?$/, default: '65534:65534' },
  ),
  pidsCount: wholeNumberAtLeast(
    { variable: 'MCP_BRIDGE_PIDS', meaning: 'The limit of processes and threads in a container.' },
    { default: 128, min: 16, max: 65_536 },
  ),
  ociRuntime: pattern(
    {
      variable: 'MCP_BRIDGE_OCI_RUNTIME',
      meaning: 'Another OCI runtime for the container engine, such as `runsc`; in a cluster, a RuntimeClass.',
    },
    { allowed: 'the name or path of a runtime', matches: /^[\w/][\w./-]*$/, default: undefined },
  ),
  kubernetesContext: pattern(
    {
      variable: 'MCP_BRIDGE_KUBERNETES',
      member: 'context',
      key: 'kubernetesContext',
      meaning: 'The context of your kubeconfig files that pods run in.',
    },
    { allowed: 'a name without spaces', matches: /^\S+$/, default: undefined },
  ),
  kubernetesNamespace: pattern(
    {
      variable: 'MCP_BRIDGE_KUBERNETES',
      member: 'namespace',
      key: 'kubernetesNamespace',
      meaning: 'The namespace of pods, where it is not the context’s.',
    },
    { allowed: 'the name of a namespace', matches: /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/, default: undefined },
  ),
  kubernetesNetwork: choice(
    {
      variable: 'MCP_BRIDGE_KUBERNETES',
      member: 'network',
      key: 'kubernetesNetwork',
      meaning: '`checked`: refuse a cluster whose pods reach a network. `unchecked`: do not try.',
    },
    ['checked', 'unchecked'],
    'checked',
  ),
  kubernetesSeccomp: pattern(
    {
      variable: 'MCP_BRIDGE_KUBERNETES',
      member: 'seccomp',
      key: 'kubernetesSeccomp',
      meaning:
        'A seccomp profile on every node, in the seccomp folder of its kubelet. Without it, pods have `RuntimeDefault`.',
    },
    {
      allowed: 'a path below that folder, such as sandbridge.json',
      matches: /^(?!\/)(?!.*(?:^|\/)\.\.(?:\/|$))[\w./-]+$/,
      default: undefined,
    },
  ),
  kubernetesStartMs: seconds(
    {
      variable: 'MCP_BRIDGE_KUBERNETES',
      member: 'start',
      key: 'kubernetesStart',
      meaning: 'How long a pod may take to run, with pulling its image and waiting for a node.',
    },
    { default: 60, min: 5, max: 1800 },
  ),
  kubernetesWarmPool: pattern(
    {
      variable: 'MCP_BRIDGE_KUBERNETES',
      member: 'warmPool',
      key: 'kubernetesWarmPool',
      meaning:
        'A SandboxWarmPool of agent-sandbox that pods are taken from. Their image and limits are those of its template.',
    },
    { allowed: 'the name of a SandboxWarmPool', matches: /^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/, default: undefined },
  ),
  mask,
  maskEndpoint,
  mount,
  packages: list(
    {
      variable: 'MCP_BRIDGE_PACKAGES',
      meaning: 'Python packages that cells can import, in place of those of `sandbridge packages`.',
    },
    {
      allowed: 'requirements, wheel files or folders of wheels, separated by spaces, such as numpy pandas>=2',
      separator: ' ',
      matches: PACKAGE_WORD,
    },
  ),
  pyodideUrl,
} as const
