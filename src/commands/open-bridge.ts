// What every command that needs a bridge does first: settings from the environment, a log, the bridge.
import { Bridge } from '../bridge.ts'
import { readSettings } from '../config/settings.ts'
import { createLog } from '../log.ts'
import { onShutdown } from '../shutdown.ts'

/**
 * @param poolCount how many sandboxes to keep waiting; missing means as set
 * @throws BridgeError CONFIG_INVALID naming every bad variable
 */
export async function openBridge(poolCount?: number): Promise<Bridge> {
  const settings = readSettings(process.env)
  const log = createLog(settings.logLevel)
  return Bridge.open(poolCount === undefined ? settings : { ...settings, poolCount }, log)
}

/** Run a command with a bridge that starts no sandbox ahead of need, and end the bridge afterwards. */
export async function withBridge<T>(command: (bridge: Bridge) => Promise<T>): Promise<T> {
  const bridge = await openBridge(0)
  onShutdown(() => bridge.close(), { watchStdin: false })
  try {
    return await command(bridge)
  } finally {
    await bridge.close()
  }
}
