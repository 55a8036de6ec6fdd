// The built package in a folder of its own, as a package manager installs, replaces and removes it.
import { cpSync, readdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { ROOT } from '../bridges/bridge-process.ts'
import { newFolder } from './new-folder.ts'

export interface InstalledPackage {
  cli: string
  /** Leaves none of its files. */
  uninstall: () => void
  /** Installs another version: its files have other names. */
  update: (version: string) => void
}

export function installedPackage(): InstalledPackage {
  const folder = newFolder()
  const place = path.join(folder, 'node_modules/sandbridge')
  const manifest = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8')) as { files: string[] }
  const uninstall = (): void => rmSync(path.join(folder, 'node_modules'), { recursive: true })
  const install = (): void => {
    for (const part of ['package.json', ...manifest.files.filter((one) => !/^(?:!|docs$)/.test(one))])
      cpSync(path.join(ROOT, part), path.join(place, part), { recursive: true })
    symlinkSync(path.join(ROOT, 'node_modules/pyodide'), path.join(folder, 'node_modules/pyodide'))
  }
  install()
  const update = (version: string): void => {
    uninstall()
    install()
    writeFileSync(path.join(place, 'package.json'), JSON.stringify({ ...manifest, version }))
    const dist = path.join(place, 'dist')
    const fresh = (name: string): string => name.replace(/.{3}\.js$/, 'new.js')
    const chunks = readdirSync(dist).filter((name) => /-[\w-]{8}\.js$/.test(name))
    for (const name of readdirSync(dist).filter((one) => one.endsWith('.js'))) {
      const text = readFileSync(path.join(dist, name), 'utf8')
      writeFileSync(
        path.join(dist, name),
        chunks.reduce((all, chunk) => all.replaceAll(chunk, fresh(chunk)), text),
      )
    }
    for (const name of chunks) renameSync(path.join(dist, name), path.join(dist, fresh(name)))
  }
  return { cli: path.join(place, 'dist/cli.js'), uninstall, update }
}
