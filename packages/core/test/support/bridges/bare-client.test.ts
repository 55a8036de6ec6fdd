import { expect, it, onTestFinished } from 'vitest'
import { published } from './bridge-process.ts'
import { connectBare } from './bare-client.ts'

it('the bare client sends hundreds of calls at once without a warning of Node', async () => {
  const warnings: string[] = []
  const onWarning = ({ message }: Error): void => void warnings.push(message)
  process.on('warning', onWarning)
  onTestFinished(() => void process.off('warning', onWarning))
  const { client } = await connectBare(published.everything())
  onTestFinished(() => client.close())
  const message = 'x'.repeat(400)
  await Promise.all(Array.from({ length: 500 }, () => client.callTool({ name: 'echo', arguments: { message } })))
  expect(warnings.filter((text) => text.includes('drain'))).toEqual([])
})
