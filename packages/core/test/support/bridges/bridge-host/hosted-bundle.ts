// The files of a bundle, which are compiled once, and then run anew for each process that the host plays. So each has
// variables of its own in every module, as a real process has, and functions that are compiled already.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import vm from 'node:vm'

type Run = (...parameters: unknown[]) => void

export class HostedBundle {
  readonly #compiled = new Map<string, Run>()
  readonly #require: NodeJS.Require
  readonly #folder: string
  /** They are run once: see plain-bridge.mjs. */
  readonly #libraries: ReadonlySet<string>

  constructor(folder: string) {
    this.#folder = folder
    this.#require = createRequire(path.join(folder, 'cli.js'))
    this.#libraries = new Set(JSON.parse(readFileSync(path.join(folder, 'libraries.json'), 'utf8')) as string[])
  }

  /**
   * Runs one of its files, and those that it requires.
   * @param globals what is another one than in this process
   * @param modules stand in the place of modules of Node
   */
  run(file: string, globals: Record<string, unknown>, modules: Record<string, unknown>): unknown {
    const loaded = new Map<string, { exports: object }>()
    const require = (name: string): unknown => {
      const ofNode = name.replace(/^node:/, '')
      if (Object.hasOwn(modules, ofNode)) return modules[ofNode]
      if (!name.startsWith('./') || this.#libraries.has(name.slice(2))) return this.#require(name)
      const known = loaded.get(name)
      if (known) return known.exports
      const module = { exports: {} }
      loaded.set(name, module)
      const filename = path.join(this.#folder, name)
      const run = this.#compile(filename, Object.keys(globals))
      run.call(module.exports, module.exports, require, module, filename, this.#folder, ...Object.values(globals))
      return module.exports
    }
    return require(`./${file}`)
  }

  #compile(filename: string, globals: readonly string[]): Run {
    const known = this.#compiled.get(filename)
    if (known) return known
    const source = readFileSync(filename, 'utf8').replace(/^#!.*/, '')
    const names = ['exports', 'require', 'module', '__filename', '__dirname', ...globals]
    const script = new vm.Script(`(function (${names.join(', ')}) {${source}\n})`, { filename })
    const run = script.runInThisContext() as Run
    this.#compiled.set(filename, run)
    return run
  }
}
