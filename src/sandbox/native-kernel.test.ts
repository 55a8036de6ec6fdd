import * as fs from 'node:fs/promises'
import { expect, it, vi } from 'vitest'
import { loadNativeKernel } from './native-kernel.ts'

vi.mock('node:fs/promises', async (importOriginal) => {
  const original = await importOriginal<typeof fs>()
  return { ...original, readdir: vi.fn(original.readdir) }
})

it("the kernel's sources are read again where the first read failed, such as for want of a file descriptor", async () => {
  vi.mocked(fs.readdir).mockRejectedValueOnce(new Error('EMFILE: too many open files'))
  await expect(loadNativeKernel()).rejects.toThrow(/EMFILE/)
  expect((await loadNativeKernel()).sources.length).toBeGreaterThan(0)
})
