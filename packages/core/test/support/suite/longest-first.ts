// The order of files: those that the first tier leaves out take longest and begin first, so that none of them runs on
// alone at the end while other workers have nothing left to do. Otherwise the order is that of vitest, which goes by
// earlier runs on the same machine, or by size.
import { readFileSync } from 'node:fs'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { WHOLE } from './only-listed.ts'

const isLong = ({ moduleId }: TestSpecification): boolean =>
  readFileSync(moduleId, 'utf8').startsWith(`// @module-tag ${WHOLE}`)

export class LongestFirst extends BaseSequencer {
  /** Within each project, as workers keep to one while it has files. */
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // oxlint-disable-next-line unicorn/no-array-sort -- it is a method of vitest
    const sorted = await super.sort(files)
    const projects = [...new Set(sorted.map(({ project }) => project.name))]
    return projects.flatMap((name) => {
      const own = sorted.filter(({ project }) => project.name === name)
      return [...own.filter((file) => isLong(file)), ...own.filter((file) => !isLong(file))]
    })
  }
}
