// What every command that needs a bridge does first: settings from the environment, a log, the bridge.
import { Bridge } from '../bridge.ts'
import { readSettings } from '../config/settings.ts'
import { createLog } from '../log.ts'

/** @throws BridgeError CONFIG_INVALID naming every bad variable */
export async function openBridge(): Promise<Bridge> {
  const settings = readSettings(process.env)
  const log = createLog(settings.logLevel)
  return Bridge.open(settings, log)
}
