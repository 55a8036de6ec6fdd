// Finds the system that sandboxes of bubblewrap run on: the first Python of this machine that works in one, or that of an image.
// Each is tried in a sandbox, which shows whether bubblewrap works at all, and puts the answer in words.
import { release } from 'node:os'
import { isRecord, parseJson } from '../../text/json.ts'
import { asSandboxUser, findBubblewrap, runInside, type Bubblewrap } from './bubblewrap.ts'
import { findHostPythons } from './host-python.ts'
import type { RememberedAnswers } from './remembered-answers.ts'
import { hostFiles, type SystemFiles } from './system-files.ts'

export interface FoundSystem {
  bubblewrap: Bubblewrap
  system: SystemFiles
  python: InnerPython
  /** It worked when it was tried before, and was not tried this time. */
  isRemembered: boolean
}

/** What a Python says of itself. */
export interface InnerPython {
  /** Such as `3.14`. */
  version: string
  /** Such as `x86_64-linux-gnu`; empty where it does not say. */
  platform: string
}

export interface BubblewrapProbe {
  /** Missing when bubblewrap cannot be used. */
  found?: FoundSystem
  /** One sentence: what was found, or what is wrong and what to do. */
  verdict: string
}

const ASK = `import sys
print('{"version": "%d.%d", "platform": "%s"}' % (sys.version_info[:2] + (getattr(sys.implementation, "_multiarch", ""),)))`

/**
 * Probe bubblewrap with the Pythons of this machine. Starts a few processes that end at once; changes nothing.
 * @param answers what was found before; missing means that everything is tried
 */
export async function findHostSystem(answers?: RememberedAnswers): Promise<BubblewrapProbe> {
  const bubblewrap = await findBubblewrap()
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
  return { verdict: `bubblewrap does not work here: ${failures.join('; ')}` }
}

/** The same with the system of an image. @param image how the user names it */
export async function findImageSystem(image: string, openSystem: () => Promise<SystemFiles>): Promise<BubblewrapProbe> {
  const bubblewrap = await findBubblewrap()
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

/** What the Python says of itself; a sentence when it does not run. */
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
