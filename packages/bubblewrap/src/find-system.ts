// Finds the system for bubblewrap's sandboxes: the first Python of this machine that works in one, or that of an image.
// Tries each in a sandbox, which also shows whether bubblewrap works, and describes the outcome.
import { release } from 'node:os'
import { isRecord, parseJson } from '@sandbridge/core/util/json/json.ts'
import { asSandboxUser, findBubblewrap, runInside, type Bubblewrap } from './bubblewrap.ts'
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
}

const ASK = `import sys
print('{"version": "%d.%d", "platform": "%s"}' % (sys.version_info[:2] + (getattr(sys.implementation, "_multiarch", ""),)))`

/**
 * Probe bubblewrap with the Pythons of this machine. Starts a few short processes; changes nothing.
 * @param answers remembered answers of earlier starts; missing: try everything
 */
export async function findHostSystem(answers?: RememberedAnswers): Promise<BubblewrapProbe> {
  const bubblewrap = findBubblewrap()
  if (typeof bubblewrap === 'string') return { verdict: bubblewrap }
  const { pythons, reasons } = await findHostPythons(asSandboxUser(bubblewrap), answers)
  if (pythons.length === 0) return { verdict: `bubblewrap has no usable Python: ${reasons.join('; ')}` }
  const failures: string[] = []
  for (const { executable, ...rest } of pythons) {
    const system = hostFiles({ executable, ...rest })
    const tried = await tryOut(bubblewrap, system, answers)
    const verdict = `bubblewrap with ${executable}, ${bubblewrap.user}`
    if (typeof tried !== 'string') return { found: { bubblewrap, system, ...tried }, verdict }
    failures.push(`${executable}: ${tried}`)
  }
  return { verdict: `bubblewrap does not work here: ${failures.join('; ')}${remedyFor(failures.join('\n'))}` }
}

function remedyFor(failures: string): string {
  if (/unknown option/i.test(failures)) return '. It is too old: bubblewrap 0.8 or newer is needed'
  if (!/uid map|namespace/i.test(failures)) return ''
  return '. AppArmor or the kernel forbids it user namespaces: install the profile of bwrap (on Ubuntu 24.04, the package apparmor-profiles), or allow them with sysctl'
}

/** Like `findHostSystem`, with the system of an image. @param image the image as the user named it */
export async function findImageSystem(image: string, openSystem: () => Promise<SystemFiles>): Promise<BubblewrapProbe> {
  const bubblewrap = findBubblewrap()
  if (typeof bubblewrap === 'string') return { verdict: bubblewrap }
  const system = await openSystem()
  const tried = await tryOut(bubblewrap, system)
  if (typeof tried === 'string') return { verdict: `bubblewrap cannot run the python3 of ${image}: ${tried}` }
  const { python } = tried
  const [major, minor] = python.version.split('.').map(Number)
  if (major !== 3 || minor! < 10) return { verdict: `${image} has Python ${python.version}, and 3.10 is needed` }
  const verdict = `bubblewrap with Python ${python.version} of ${image}, ${bubblewrap.user}`
  return { found: { bubblewrap, system, ...tried }, verdict }
}

/** Returns what the Python reports about itself, or a sentence that says why it does not run. */
async function tryOut(
  bubblewrap: Bubblewrap,
  system: SystemFiles,
  answers?: RememberedAnswers,
): Promise<Pick<FoundSystem, 'python' | 'isRemembered'> | string> {
  const run = () => runInside(bubblewrap, system, ['-I', '-c', ASK])
  const question = JSON.stringify([bubblewrap, system, release()])
  const { stdout, stderr, isRemembered } = answers
    ? await answers.ask(question, system.python, run, (text) => isRecord(parseJson(text)))
    : { ...(await run()), isRemembered: false }
  const answer = parseJson(stdout)
  if (!isRecord(answer)) return stderr || 'no output'
  const { version, platform } = answer
  if (typeof version !== 'string' || !/^\d+\.\d+$/.test(version)) return 'it does not say which version it is'
  return { python: { version, platform: typeof platform === 'string' ? platform : '' }, isRemembered }
}
