// The image with the configured packages: built once on top of the configured image, later found by its
// name. Packages are installed only during the build, which is also the only step with network access.
import { hash } from 'node:crypto'
import { chmod, mkdir, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { makeTemporaryFolder, type MissingPackage } from '@sandbridge/core/isolation'
import { installAvailable, InstallError, wordsText } from '@sandbridge/cell-packages/missing-packages.ts'
import { PIP_PROGRAM } from '@sandbridge/cell-packages/pip-program.ts'
import { PACKAGES_TARGET, writeFiles } from '@sandbridge/cell-packages/package-folder.ts'
import {
  findWheels,
  needsNoInstaller,
  readRequestedPackages,
  type RequestedPackages,
  unpackWheels,
} from '@sandbridge/cell-packages/requested-packages.ts'
import { isPureWheel } from '@sandbridge/cell-packages/wheel.ts'
import { runCommand } from '@sandbridge/core/util/process'
import { ensureImage, type Image } from './image.ts'
import type { Engine } from './probe-engine.ts'
import { folderFor } from './seccomp-file.ts'

const BUILD_TIMEOUT_MS = 30 * 60_000

/**
 * Returns an image with those of the packages that can be had; without any, the base.
 * @param base the image to build on
 * @param memory the folder of remembered failures
 */
export async function ensurePackageImage(
  engine: Engine,
  base: Image,
  words: readonly string[],
  { memory, onProgress = () => {} }: { memory?: string | undefined; onProgress?: (message: string) => void },
): Promise<{ image: Image; missing: MissingPackage[] }> {
  const { wheels, missing: unread } = await findWheels(words)
  const kind = `${engine.command} ${base.id}`
  const { result, missing } = await installAvailable(wheels, { memory, kind }, (available) =>
    ensureBuilt(engine, base, available, onProgress),
  )
  return { image: result ?? base, missing: [...unread, ...missing] }
}

async function ensureBuilt(
  engine: Engine,
  base: Image,
  words: readonly string[],
  onProgress: (message: string) => void,
): Promise<Image> {
  const requested = await readRequestedPackages(words)
  const key = hash('sha256', `${base.id}\n${requested.key}`).slice(0, 24)
  const name = `localhost/sandbridge-packages:${key}`
  const { code } = await runCommand(engine.command, ['image', 'inspect', '--format', '{{.Id}}', name])
  if (code !== 0) {
    onProgress(`Building an image with ${engine.command} (once): ${wordsText(words)}`)
    await build(engine, base, requested, name, onProgress)
  }
  return ensureImage(engine, name, onProgress)
}

async function build(
  engine: Engine,
  base: Image,
  requested: RequestedPackages,
  name: string,
  onProgress: (message: string) => void,
): Promise<void> {
  const context = await makeTemporaryFolder(folderFor(engine.command))
  try {
    // Podman may run as another user.
    await chmod(context, 0o755)
    await mkdir(path.join(context, 'packages'))
    const unpacked = needsNoInstaller(requested)
    const files = unpacked
      ? await unpackWheels(requested.wheels, isPureWheel)
      : requested.wheels.map(({ fileName, data }) => ({ path: fileName, data }))
    await writeFiles(path.join(context, 'packages'), files)
    await writeFile(path.join(context, 'requirements.txt'), requested.requirements.join('\n'))
    await writeFile(path.join(context, 'pip-program.py'), PIP_PROGRAM)
    await writeFile(
      path.join(context, 'Containerfile'),
      unpacked ? `FROM ${base.id}\nCOPY packages ${PACKAGES_TARGET}\n` : installed(base.id, requested),
    )
    // `--force-rm`: a failed build leaves no container behind. Podman would store a layer for each step.
    const layers = engine.dialect === 'podman' ? ['--layers=false'] : []
    const file = path.join(context, 'Containerfile')
    const options = ['--pull=false', '--force-rm', ...layers, '--file', file, '--tag', name]
    const { code, stdout, stderr } = await runCommand(engine.command, ['build', ...options, context], {
      timeoutMs: BUILD_TIMEOUT_MS,
      onLine: onProgress,
    })
    if (code === 0) return
    // Docker colours the errors of a build.
    const output = stripVTControlCharacters(`${stdout}\n${stderr}`)
    throw new InstallError(`the image cannot be built: ${reasonOf(output)}`, output)
  } finally {
    await rm(context, { recursive: true, force: true })
  }
}

/** Installs wheels only, so that no code of a package runs during the build. Removes the installer afterwards. */
function installed(base: string, { wheels }: RequestedPackages): string {
  const files = wheels.map(({ fileName }) => `/tmp/packages/${fileName}`).join(' ')
  const options = '--disable-pip-version-check --no-cache-dir'
  const install = `python3 -I /tmp/pip-program.py ${options} install --no-input --only-binary :all:`
  // pip names only the first package that it does not find.
  const look = `(xargs -r -n 1 -P 8 ${install} --dry-run --no-deps --quiet < /tmp/requirements.txt; false)`
  return [
    `FROM ${base}`,
    'USER 0',
    'COPY packages /tmp/packages',
    'COPY requirements.txt pip-program.py /tmp/',
    'RUN (python3 -m pip --version > /dev/null 2>&1 || python3 -m ensurepip > /dev/null)' +
      ` && (${install} --target ${PACKAGES_TARGET} --requirement /tmp/requirements.txt ${files} || ${look})` +
      // A distribution's own pip cannot be uninstalled this way, and stays.
      ` && (python3 -m pip ${options} uninstall --yes --quiet pip || true)` +
      ' && rm -rf /tmp/packages /tmp/requirements.txt /tmp/pip-program.py',
    'USER 65534:65534',
    '',
  ].join('\n')
}

/** Returns the last message of pip or Python. The engine's own last line only repeats the failed command. */
export function reasonOf(output: string): string {
  const lines = stripVTControlCharacters(output)
    .split('\n')
    .filter((line) => line.trim() !== '')
  const said = lines.findLast((line) => /ERROR: (?!failed to |process )|No module named /.test(line)) ?? lines.at(-1)
  return (
    said?.replace(/^.*?(?=ERROR: |No module named )(ERROR: )?|^Error: building at STEP ".*": /, '').trim() ??
    'the engine gave no reason'
  )
}
