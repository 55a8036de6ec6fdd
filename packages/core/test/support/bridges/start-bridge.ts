// A bridge that ends with the test that asked for it.
import { onTestFinished } from 'vitest'
import { type BridgeOptions, closeTestBridge, openTestBridge, type TestBridge } from './bridge-process.ts'

export async function startBridge(options: BridgeOptions = {}): Promise<TestBridge> {
  const bridge = await openTestBridge(options)
  onTestFinished(() => closeTestBridge(bridge))
  return bridge
}
