// The registries that the user's settings name.
import { type Settings, settingsOf } from '@sandbridge/core/config/settings'
import type { Log } from '@sandbridge/core/util'
import { Registries } from './directory/registries.ts'
import { REGISTRY_SETTINGS } from './settings.ts'

/** Contacts none of them yet. */
export function openRegistries(settings: Settings, log: Log): Registries {
  const { registries: addresses } = settingsOf(settings, REGISTRY_SETTINGS)
  return new Registries({ addresses, stateDir: settings.stateDir, env: process.env, log })
}
