import { expect, it, vi } from 'vitest'
import * as findProgram from '../../../util/process/find-program.ts'
import { listedLanguages } from './language-tools.ts'

it.each([
  ['pyodide', ['bwrap'], ['javascript']],
  ['bubblewrap', [], ['bash', 'javascript']],
  ['kubernetes', [], ['bash', 'javascript']],
  ['auto', [], ['javascript']],
  ['auto', ['docker'], ['bash', 'javascript']],
] as const)('with the runtime %s on a machine with %j, the languages are %j', (runtime, programs, expected) => {
  const find = vi.spyOn(findProgram, 'findPrograms')
  find.mockImplementation((name) => (programs.some((one) => one === name) ? [`/usr/bin/${name}`] : []))
  expect(listedLanguages({ languages: ['bash', 'javascript'], runtime })).toEqual(expected)
})
