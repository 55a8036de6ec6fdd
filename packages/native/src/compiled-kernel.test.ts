import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { beforeEach, expect, it, vi } from 'vitest'
import { CompiledKernels, type RunPython } from './compiled-kernel.ts'
import { newFolder } from '@sandbridge/core/test/support/machine/new-folder.ts'

const kernel = {
  sources: Buffer.from('{}'),
  compileArgs: ['-c', ''],
  start: () => ({ args: [], preamble: Buffer.of() }),
}
const bytecode = Buffer.from('bytecode')

let folder: string
beforeEach(() => {
  folder = newFolder()
})

function python() {
  const run = vi.fn<RunPython>(async () => ({
    code: 0,
    stdout: bytecode.toString('base64'),
    stderr: '',
    missing: false,
  }))
  return { run }
}

/** Waits until the file has its final name; it is written under another. */
async function stored(): Promise<void> {
  await expect.poll(() => readdirSync(folder)).toEqual([expect.stringMatching(/^[0-9a-f]{64}$/)])
}

it('the compiled kernel is made once, in the background, and found by later runs', async () => {
  const { run } = python()
  const kernels = new CompiledKernels(folder)
  expect(kernels.find(kernel, 'image', run)).toBeUndefined()
  expect(kernels.find(kernel, 'image', run)).toBeUndefined()
  await stored()
  expect(kernels.find(kernel, 'image', run)).toEqual(bytecode)
  expect(run).toHaveBeenCalledExactlyOnceWith(kernel.compileArgs, kernel.sources)
  expect(new CompiledKernels(folder).find(kernel, 'image', run)).toEqual(bytecode)
})

it('the compiled kernel belongs to one Python and one set of sources', async () => {
  const { run } = python()
  new CompiledKernels(folder).find(kernel, 'image', run)
  await stored()
  const later = new CompiledKernels(folder)
  expect(later.find(kernel, 'another image', run)).toBeUndefined()
  expect(later.find({ ...kernel, sources: Buffer.from('{"a":""}') }, 'image', run)).toBeUndefined()
})

it(
  'the compiled kernel is made again when its file was damaged, which would crash Python',
  { tags: ['whole'] },
  async () => {
    const { run } = python()
    new CompiledKernels(folder).find(kernel, 'image', run)
    await stored()
    const file = path.join(folder, readdirSync(folder)[0]!)
    const content = readFileSync(file)
    content[content.length - 1]! ^= 1
    // Compiling fails here, so that the file stays as the test wrote it.
    const fails = vi.fn<RunPython>(async () => ({ code: 1, stdout: '', stderr: '', missing: false }))
    writeFileSync(file, content)
    expect(new CompiledKernels(folder).find(kernel, 'image', fails)).toBeUndefined()
    writeFileSync(file, 'short')
    expect(new CompiledKernels(folder).find(kernel, 'image', fails)).toBeUndefined()
    await expect.poll(() => fails).toHaveBeenCalledTimes(2)
  },
)
