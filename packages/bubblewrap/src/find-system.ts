// Finds the system for bubblewrap's sandboxes: the first Python of this machine that works in one, or that of an image.
// Tries each in a sandbox, which also shows whether bubblewrap works, and describes the outcome.
import { release } from 'node:os'
import { isRecord, parseJson } from '@sandbridge/core/util/json/json.ts'
import { lastLine } from '@sandbridge/core/util/text'
import { asSandboxUser, findBubblewraps, programOf, runInside, type Bubblewrap } from './bubblewrap.ts'
import { findHostPythons } from './host-python.ts'
import type { RememberedAnswers } from './remembered-answers.ts'
import { hostFiles, type SystemFiles } from './system-files.ts'

export interface FoundSystem {
  bubblewrap: Bubblewrap
  system: SystemFiles
  python: InnerPython
  /** It worked in an earlier start and was not tried now. */
  isRemembered: boolean
}

/** What a Python reports about itself. */
export interface InnerPython {
  /** For example `3.14`. */
  version: string
  /** For example `x86_64-linux-gnu`; empty if unknown. */
  platform: string
}

export interface BubblewrapProbe {
  /** Missing if bubblewrap cannot be used. */
  found?: FoundSystem
  /** One sentence: what was found, or what is wrong and what to do. */
  verdict: string
  /** Why Pythons before it on the PATH are not used. */
  remarks?: string[]
}

/**
 * What the kernel imports, and cells expect of any Python: some are built without a library, or lack half of the
 * standard library, as Debian's python3-minimal does.
 */
const NEEDED =
  'ctypes asyncio json resource select socket subprocess fcntl zlib array binascii math struct unicodedata ' +
  'ast inspect threading signal selectors tempfile hashlib random datetime decimal csv pickle importlib.metadata'

const ASK = `import sys
sys.modules["ssl"] = None
lacks = []
for name in "${NEEDED}".split():
    try: __import__(name)
    except Exception as error: lacks.append(str(getattr(error, "name", None) or name))
print('{"version": "%d.%d", "platform": "%s", "lacks": "%s"}' % (sys.version_info[:2] + (getattr(sys.implementation, "_multiarch", ""), " ".join(lacks))))`

/**
 * Probe bubblewrap with the Pythons of this machine. Starts a few short processes; changes nothing.
 * @param answers remembered answers of earlier starts; missing: try everything
 * @param hostPackages whether cells see the packages of this machine's Python
 */
export async function findHostSystem(answers?: RememberedAnswers, hostPackages = false): Promise<BubblewrapProbe> {
  const bubblewraps = findBubblewraps()
  if (typeof bubblewraps === 'string') return { verdict: bubblewraps }
  const { pythons, reasons } = await findHostPythons(asSandboxUser(bubblewraps[0]!), answers)
  if (pythons.length === 0) return { verdict: `bubblewrap has no usable Python: ${reasons.join('; ')}` }
  const failures: string[] = []
  for (const bubblewrap of bubblewraps) {
    const remarks = [...reasons]
    for (const python of pythons) {
      const { executable } = python
      const system = hostFiles(python, hostPackages)
      const tried = await tryOut(bubblewrap, system, answers)
      const verdict = `bubblewrap with ${executable}, ${bubblewrap.user}${failures.map((one) => `; ${one}`).join('')}`
      if (typeof tried !== 'string') return { found: { bubblewrap, system, ...tried }, verdict, remarks }
      remarks.push(`${executable}: ${tried}`)
      // With another Python it would say the same.
      if (tried.startsWith('bwrap: ')) break
    }
    const why = remarks.slice(reasons.length)
    failures.push(
      `${programOf(bubblewrap)} does not work: ${why.join('; ').replace(/\.$/, '')}${remedyFor(why.join('\n'))}`,
    )
  }
  return { verdict: `bubblewrap does not work here: ${failures.join('; ')}` }
}

function remedyFor(failures: string): string {
  if (/unknown option/i.test(failures)) return '. It is too old: bubblewrap 0.8 or newer is needed'
  if (/mount proc/i.test(failures))
    return '. A container hides its /proc: start it with --security-opt systempaths=unconfined, or unmask=all for podman'
  if (!/uid map|namespace|RTM_NEWADDR/i.test(failures)) return ''
  return '. AppArmor or the kernel forbids user namespaces: install the profile of bwrap (on Ubuntu 24.04, the package apparmor-profiles), or allow them with sysctl'
}

/** Like `findHostSystem`, with the system of an image. @param image the image as the user named it */
export async function findImageSystem(image: string, openSystem: () => Promise<SystemFiles>): Promise<BubblewrapProbe> {
  const bubblewraps = findBubblewraps()
  if (typeof bubblewraps === 'string') return { verdict: bubblewraps }
  const system = await openSystem()
  const failures: string[] = []
  for (const bubblewrap of bubblewraps) {
    const tried = await tryOut(bubblewrap, system)
    if (typeof tried !== 'string') return judgeImage(image, { bubblewrap, system, ...tried })
    failures.push(tried)
  }
  return { verdict: `bubblewrap cannot run the python3 of ${image}: ${failures[0]}${remedyFor(failures[0]!)}` }
}

function judgeImage(image: string, found: FoundSystem): BubblewrapProbe {
  const { python, bubblewrap } = found
  const [major, minor] = python.version.split('.').map(Number)
  if (major !== 3 || minor! < 10) return { verdict: `${image} has Python ${python.version}, and 3.10 is needed` }
  const verdict = `bubblewrap with Python ${python.version} of ${image}, ${bubblewrap.user}`
  return { found, verdict }
}

/** Returns what the Python reports about itself, or a sentence that says why it does not run. */
async function tryOut(
  bubblewrap: Bubblewrap,
  system: SystemFiles,
  answers?: RememberedAnswers,
): Promise<Pick<FoundSystem, 'python' | 'isRemembered'> | string> {
  const run = () => runInside(bubblewrap, system, ['-I', '-c', ASK])
  const question = JSON.stringify([bubblewrap, system, release(), NEEDED])
  const { stdout, stderr, isRemembered } = answers
    ? await answers.ask(question, system.python, run, (text) => parseAnswer(text)?.['lacks'] === '')
    : { ...(await run()), isRemembered: false }
  const answer = parseAnswer(stdout)
  if (!answer) return stderr || 'no output'
  const { version, platform, lacks } = answer
  if (typeof version !== 'string' || !/^\d+\.\d+$/.test(version)) return 'it does not say which version it is'
  if (typeof lacks === 'string' && lacks !== '') return `it lacks ${[...new Set(lacks.split(' '))].join(', ')}`
  return { python: { version, platform: typeof platform === 'string' ? platform : '' }, isRemembered }
}

/** What runs at Python's start may print before the answer. */
function parseAnswer(stdout: string): Record<string, unknown> | undefined {
  const value = parseJson(lastLine(stdout) ?? '')
  return isRecord(value) ? value : undefined
}
