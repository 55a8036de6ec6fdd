import { expect, it } from 'vitest'
import { circles, crowded, oversized } from './check-shape.mjs'

const circlesIn = (files: Record<string, string>): string[][] => circles(new Map(Object.entries(files)))

it.each([
  ['of values', "import { b } from './b.ts'", "import { a } from '../src/a.ts'"],
  ['of a type', "import type { B } from './b.ts'", "export { a } from './a.ts'"],
  ['of an import at run time', "const b = await import('./b.ts')", "import {\n  a,\n} from './a.ts'"],
])('a circle %s is found in TypeScript', (_, a, b) => {
  expect(circlesIn({ 'src/a.ts': a, 'src/b.ts': b, 'src/c.ts': "import './a.ts'" })).toEqual([['src/a.ts', 'src/b.ts']])
})

it.each([
  ['of modules', 'from .inner import b', 'from ..a import x'],
  ['of names', 'from .inner.b import (\n    x,\n    y,\n)', 'from .. import a'],
  ['of an import in a function', 'def f():\n    from .inner.b import x', 'from ..a import f as g  # once'],
])('a circle %s is found in Python', (_, a, b) => {
  expect(circlesIn({ 'python/k/a.py': a, 'python/k/inner/b.py': b })).toEqual([
    ['python/k/a.py', 'python/k/inner/b.py'],
  ])
})

it('files that import each other in one direction are no circle', () => {
  expect(circlesIn({ 'src/a.ts': "import './b.ts'", 'src/b.ts': "import './c.ts'", 'src/c.ts': '' })).toEqual([])
})

it('a folder with more than 15 files is found, and more than three files outside of the rooms', () => {
  const files = Array.from({ length: 15 }, (_, index) => `src/room/${index}.ts`)
  expect(crowded(files)).toEqual([])
  expect(crowded([...files, 'src/room/index.ts', 'src/room/inner/a.ts'])).toEqual([])
  expect(crowded([...files, 'src/room/16.ts'])).toEqual([expect.stringContaining('src/room has 16 files')])
  expect(crowded(['a.ts', 'b.ts', 'c.ts', 'd.ts'].map((name) => `packages/core/src/${name}`))).toEqual([
    expect.stringContaining('4 files'),
  ])
})

it('a core that outgrows a limit is found', () => {
  const files = new Map([
    ['packages/core/src/a/1.ts', 'x\n'],
    ['packages/core/src/b/2.ts', 'x\n'],
    ['packages/flow/src/3.ts', 'x\n'],
  ])
  const within = { lines: 2, files: 2, rooms: 2, dependencies: 1 }
  expect(oversized(files, ['zod'], within)).toEqual([])
  expect(oversized(files, ['zod', 'yaml'], { lines: 1, files: 1, rooms: 1, dependencies: 1 })).toEqual(
    ['lines', 'files', 'rooms', 'dependencies'].map((what) => `packages/core has 2 ${what}; at most 1`),
  )
})
