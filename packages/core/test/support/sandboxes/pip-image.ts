// The test image with this machine's pip, for tests and benchmarks of packages in containers.
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { SLIM_IMAGE } from './engines.ts'

/** The folder of this machine's pip; undefined if its python3 has none. */
export function hostPip(): string | undefined {
  const find = 'import os, pip; print(os.path.dirname(pip.__path__[0]))'
  const { status, stdout } = spawnSync('python3', ['-c', find], { encoding: 'utf8' })
  return status === 0 ? stdout.trim() : undefined
}

/** Copies pip into the context of a build. Returns the lines that install it in an image. */
export function addPip(pip: string, context: string): string[] {
  mkdirSync(path.join(context, 'pip'))
  for (const name of readdirSync(pip).filter((entry) => /^pip(-.*\.dist-info)?$/.test(entry))) {
    cpSync(path.join(pip, name), path.join(context, 'pip', name), { recursive: true })
  }
  const site = "$(python3 -c 'import site; print(site.getsitepackages()[0])')"
  return [
    'USER 0',
    'COPY pip /srv/pip',
    `RUN mkdir -p ${site} && mv /srv/pip/* ${site} && rm -f /usr/lib/python3*/EXTERNALLY-MANAGED`,
  ]
}

/** Builds an image on the test image. Returns why that failed; an empty text if it did not. */
export function buildImage(engine: string, name: string, context: string, lines: string[]): string {
  const file = path.join(context, 'Containerfile')
  writeFileSync(file, [`FROM ${SLIM_IMAGE}`, ...lines].join('\n'))
  const options = ['--force-rm', '--file', file, '--tag', name, context]
  const { status, stderr } = spawnSync(engine, ['build', ...options], { encoding: 'utf8' })
  return status === 0 ? '' : stderr
}

/** Removes all images with a label, which images that were built on them inherit. */
export function removeImages(engine: string, label: string): void {
  const args = ['images', '--quiet', '--all', '--filter', `label=${label}`]
  const { stdout } = spawnSync(engine, args, { encoding: 'utf8' })
  const ids = [...new Set((stdout ?? '').split('\n').filter((id) => id !== ''))]
  if (ids.length > 0) spawnSync(engine, ['rmi', '--force', ...ids])
}
