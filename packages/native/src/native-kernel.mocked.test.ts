import * as fs from 'node:fs'
import { expect, it, vi } from 'vitest'
import { whyNoKernel } from './native-kernel.ts'

vi.mock('node:fs', async (importOriginal) => {
  const original = await importOriginal<typeof fs>()
  return { ...original, readdirSync: vi.fn(original.readdirSync) }
})

it("the kernel's sources are read again where the first read failed, such as for want of a file descriptor", async () => {
  // Another test of this worker may have read them.
  vi.resetModules()
  const { loadNativeKernel } = await import('./native-kernel.ts')
  vi.mocked(fs.readdirSync).mockImplementationOnce(() => {
    throw new Error('EMFILE: too many open files')
  })
  expect(() => loadNativeKernel()).toThrow(/EMFILE/)
  expect(loadNativeKernel().sources.length).toBeGreaterThan(0)
})

it('a Python without a part that the kernel needs is explained by that part, not by a traceback', () => {
  const traceback =
    'Traceback (most recent call last):\n  File "<string>", line 8\nModuleNotFoundError: No module named \'_ctypes\''
  expect(whyNoKernel(traceback)).toBe(
    "it lacks a part of the standard library that the kernel needs (ModuleNotFoundError: No module named '_ctypes')",
  )
  expect(whyNoKernel('Killed')).toBe('Killed')
  expect(whyNoKernel('')).toBe('it said nothing')
})
