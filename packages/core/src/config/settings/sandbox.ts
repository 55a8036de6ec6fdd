// Settings of sandboxes, and of masking data that the model sees.
import { isHttpUrl } from '../../util/net/loopback.ts'
import * as z from 'zod'
import { IMAGE_NAME } from '../entries/server-definition.ts'
import { absolutePath } from '../../util/files/absolute-path.ts'
import {
  choice,
  flag,
  optional,
  optionalNumber,
  pattern,
  patternOr,
  seconds,
  setting,
  size,
  text,
  wholeNumber,
  words,
} from './setting-kinds.ts'

/** An absolute path; anything else that starts like a path is not the name of an image. */
const PATH = /^([/~\\]|[A-Za-z]:[/\\])/

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

export const MASK_KINDS = ['email', 'phone', 'card', 'iban', 'ip', 'secret'] as const
export type MaskKind = (typeof MASK_KINDS)[number]

const RUNTIMES = ['auto', 'podman', 'docker', 'bubblewrap', 'pyodide', 'kubernetes'] as const
const EMBEDDED = { embedded: 'pyodide', wasm: 'pyodide', webassembly: 'pyodide' } as const
const runtimes = choice(RUNTIMES, 'auto', { bwrap: 'bubblewrap', k8s: 'kubernetes', ...EMBEDDED })
const maskWords = words(`all, or names separated by commas: ${MASK_KINDS.join(', ')}`, ['all', ...MASK_KINDS])
const pidsCount = wholeNumber({ standard: 128, min: 1, max: 65_536 })
const SMALLEST_PIDS = 16

export const SANDBOX_SETTINGS = {
  runtime: setting(
    'sandbox.runtime',
    'MCP_BRIDGE_RUNTIME',
    'The sandbox that runs cells. `auto` chooses the first that works.',
    {
      ...runtimes,
      // By name, or by the path of the program, whose file name is used.
      type: ({ remark }) =>
        z.preprocess((given) => {
          if (typeof given !== 'string' || !/[/\\]/.test(given)) return given
          const program = given.replace(/^.*[/\\]|\.exe$/gi, '')
          remark?.(`MCP_BRIDGE_RUNTIME=${given} selects ${program}, found through PATH.`)
          return runtimes.read(program)
        }, z.enum(RUNTIMES)),
    },
  ),
  memoryBytes: setting(
    'sandbox.memory',
    'MCP_BRIDGE_MEMORY',
    'The memory limit of a sandbox. If Python packages were added, the default memory limit is 1g. The embedded sandbox needs at least 272m.',
    size({ standard: '512m', min: '64m' }),
  ),
  poolCount: setting(
    'sandbox.pool',
    'MCP_BRIDGE_POOL',
    'How many sandboxes Sandbridge starts in advance.',
    wholeNumber({ standard: 1, min: 0, max: 16 }),
  ),
  poolMaxCount: setting(
    'sandbox.poolMax',
    'MCP_BRIDGE_POOL=max',
    'The most sandboxes that Sandbridge starts in advance while many sessions begin.',
    optional(wholeNumber({ standard: 1, min: 1, max: 64 }), 'as many as the pool has'),
  ),
  image: setting(
    'sandbox.image',
    'MCP_BRIDGE_IMAGE',
    'A container image with Python, in which cells run. For bubblewrap, the image can also be a folder or an archive.',
    text(
      'an image name such as python:3.14-slim, or an absolute path',
      (given, { home }) => (PATH.test(given) ? absolutePath(given, home) : IMAGE_NAME.test(given) ? given : undefined),
      { defaultText: 'python:3.14-slim for containers' },
    ),
  ),
  hostPackages: setting(
    'sandbox.hostPackages',
    'MCP_BRIDGE_HOST_PACKAGES',
    'Let cells in bubblewrap import packages installed for this machine’s Python.',
    flag(false),
  ),
  forkServer: setting(
    'sandbox.forkServer',
    'MCP_BRIDGE_FORK_SERVER',
    'Fork bubblewrap sandboxes from one prepared Python: this machine’s (`auto`), or also an image’s (`on`).',
    choice(['auto', 'on', 'off'], 'auto'),
  ),
  cpus: setting('sandbox.cpus', 'MCP_BRIDGE_CPUS', 'The CPU limit of a container.', optionalNumber(1024)),
  containerUser: setting(
    'sandbox.containerUser',
    'MCP_BRIDGE_CONTAINER_USER',
    'The user and group IDs of cells in a container.',
    patternOr('65534:65534', 'user or user:group, such as 65534:65534', /^\w[\w-]*(:\w[\w-]*)?$/),
  ),
  pidsCount: setting('sandbox.pids', 'MCP_BRIDGE_PIDS', 'The limit of processes and threads in a container.', {
    ...pidsCount,
    allowed: `a whole number, 1 to 65536; less than ${SMALLEST_PIDS} counts as ${SMALLEST_PIDS}`,
    type: (context) =>
      pidsCount.type(context).transform((count) => {
        if (count >= SMALLEST_PIDS) return count
        context.remark?.(`MCP_BRIDGE_PIDS=${count} is too low: ${SMALLEST_PIDS} is used.`)
        return SMALLEST_PIDS
      }),
  }),
  ociRuntime: setting(
    'sandbox.ociRuntime',
    'MCP_BRIDGE_OCI_RUNTIME',
    'The OCI runtime of containers, such as `runsc`. In Kubernetes, the RuntimeClass of pods.',
    pattern('the name or path of a runtime', /^[\w/][\w./-]*$/),
  ),
  kubernetesContext: setting(
    'sandbox.kubernetesContext',
    'MCP_BRIDGE_KUBERNETES=context',
    'The kubeconfig context in which pods start.',
    pattern('a name without spaces', /^\S+$/),
  ),
  kubernetesNamespace: setting(
    'sandbox.kubernetesNamespace',
    'MCP_BRIDGE_KUBERNETES=namespace',
    'The Kubernetes namespace of pods, if not the kubeconfig context’s.',
    pattern('the name of a namespace', /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/),
  ),
  kubernetesNetwork: setting(
    'sandbox.kubernetesNetwork',
    'MCP_BRIDGE_KUBERNETES=network',
    'With `checked`, Sandbridge refuses a cluster whose pods can reach a network. `unchecked` skips this network test.',
    choice(['checked', 'unchecked'], 'checked'),
  ),
  kubernetesSeccomp: setting(
    'sandbox.kubernetesSeccomp',
    'MCP_BRIDGE_KUBERNETES=seccomp',
    'The seccomp profile that pods use in place of `RuntimeDefault`: a file in the kubelet’s folder on every Kubernetes node.',
    pattern('a path below that folder, such as sandbridge.json', /^(?!\/)(?!.*(?:^|\/)\.\.(?:\/|$))[\w./-]+$/),
  ),
  kubernetesStartMs: setting(
    'sandbox.kubernetesStart',
    'MCP_BRIDGE_KUBERNETES=start',
    'How long a pod may take to start.',
    seconds({ standard: 60, min: 5, max: 1800 }),
  ),
  mask: setting(
    'sandbox.mask',
    'MCP_BRIDGE_MASK',
    'Kinds of personal data that the model sees as placeholders such as `[EMAIL_1]`.',
    {
      ...maskWords,
      whenMissing: (): readonly MaskKind[] => [],
      read: (given) => maskWords.read(typeof given === 'string' ? given.toLowerCase() : given),
      type: (context) =>
        maskWords
          .type(context)
          .refine((all) => all.length === 1 || !all.includes('all'))
          .transform((all) => MASK_KINDS.filter((kind) => all[0] === 'all' || all.includes(kind))),
    },
  ),
  maskEndpoint: setting(
    'sandbox.maskEndpoint',
    'MCP_BRIDGE_MASK=endpoint',
    'The URL of an endpoint with Presidio Analyzer’s API, which finds people’s names.',
    text('an http or https URL', (given) => (isHttpUrl(given) ? given : undefined)),
    { secret: true },
  ),
  mount: setting(
    'sandbox.mount',
    'MCP_BRIDGE_MOUNT',
    'A folder of this machine that cells can read below `/mnt`. If its path ends with `:rw`, cells can also write to this folder.',
    text('an absolute path, optionally followed by :ro or :rw', (given, { home }) => {
      const [, folder = '', mode] = /^(.+?)(?::(ro|rw))?$/.exec(given) ?? []
      if (!PATH.test(folder)) return undefined
      return { path: absolutePath(folder, home), mode: mode === 'rw' ? ('rw' as const) : ('ro' as const) }
    }),
  ),
  packages: setting(
    'sandbox.packages',
    'MCP_BRIDGE_PACKAGES',
    'Python packages that cells can import, in place of those from `sandbridge packages`.',
    words(
      'requirements, wheel files or folders of wheels, separated by spaces, such as numpy pandas>=2',
      PACKAGE_WORD,
      // A comma may also be between extras, or limits of a version.
      /\s+|,(?=\s|["']|[a-z](?![^[\]]*\]))/i,
    ),
  ),
  pyodideUrl: setting(
    'sandbox.mirror',
    'MCP_BRIDGE_RUNTIME=mirror',
    'A mirror of Pyodide’s packages, for the embedded sandbox. Sandbridge checks the packages’ hashes.',
    text(
      'an http or https URL without a user name',
      // The names of files follow it.
      (given) => (isHttpUrl(given) && new URL(given).username === '' ? given.replace(/\/*$/, '/') : undefined),
      { defaultText: "Pyodide's own address" },
    ),
  ),
} as const
