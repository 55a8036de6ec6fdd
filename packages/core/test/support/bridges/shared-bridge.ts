// One bridge for the tests of a file or of a describe block. A start costs more than most tests, so only tests of a
// start, of settings or of isolation begin with a bridge of their own. A test with a shared bridge sets what it reads.
import { afterAll, beforeAll } from 'vitest'
import { type BridgeOptions, closeTestBridge, openTestBridge, type TestBridge } from './bridge-process.ts'
import { type HttpBridge, type HttpBridgeOptions, startHttpBridge } from './http-bridge.ts'

/** Returns the bridge once the tests run. */
export const sharedBridge = (options: BridgeOptions = {}): (() => TestBridge) =>
  sharedOne(async (atEnd) => {
    const bridge = await openTestBridge(options)
    atEnd(() => closeTestBridge(bridge))
    return bridge
  })

/** The same over HTTP. */
export const sharedHttpBridge = (options: HttpBridgeOptions = {}): (() => HttpBridge) =>
  sharedOne((atEnd) => startHttpBridge(options, atEnd))

/** @param open gives what ends it to `atEnd` */
export function sharedOne<T>(open: (atEnd: (end: () => Promise<void>) => void) => Promise<T>): () => T {
  let bridge: T
  let end: (() => Promise<void>) | undefined
  beforeAll(async () => {
    bridge = await open((close) => (end = close))
  })
  afterAll(() => end?.())
  return () => bridge
}
