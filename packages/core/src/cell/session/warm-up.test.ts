import { expect, it } from 'vitest'
import { FakeSandbox } from '../../../test/support/sandboxes/fake-sandbox.ts'
import { Kernel } from '../kernel/kernel.ts'
import { warmUp } from './kernel-pool.ts'

async function attach() {
  const sandbox = new FakeSandbox()
  const attaching = Kernel.attach(sandbox)
  sandbox.ready()
  return { sandbox, kernel: await attaching }
}

it('a warm-up runs cells of number 0 and leaves the count of cells alone', async () => {
  const { kernel } = await attach()
  await warmUp(kernel)
  expect(kernel.cellCount).toBe(0)
})

it('a warm-up ends a kernel that does not come back from it', { tags: ['whole'] }, async () => {
  const { sandbox, kernel } = await attach()
  sandbox.stdin.removeAllListeners('data')
  await expect(warmUp(kernel, { timeoutMs: 10 })).rejects.toMatchObject({ code: 'KERNEL_DIED' })
  expect(sandbox.disposed).toBe(true)
})
