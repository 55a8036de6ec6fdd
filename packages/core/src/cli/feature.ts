// What a feature is: something that the bridge would be whole without, in one folder of
// packages/sandbridge/src/packages/. packages/sandbridge/src/packages.ts lists all features. Each part names words and
// types only; its code is loaded at its first use, because a client must be answered quickly.
import type { Bridge } from '../bridge/bridge.ts'
import type { OpenTenant } from '../bridge/open-tenant.ts'
import type { Methods } from '../calls/methods/method.ts'
import { addSettings, type SettingTable } from '../config/settings/settings.ts'
import type { MakeOffer } from '../serve/mcp/offer.ts'
import type { Command } from './command.ts'
import type { Finding } from './finding.ts'
import type { Terminal } from './terminal/terminal.ts'

/**
 * Whether a feature does the work of this process, which may load nothing before: packages/sandbridge/src/first.ts
 * lists them.
 * @returns what does it, and gets what runs the command here instead
 */
export type TakeOver = () => ((command: () => Promise<void>) => Promise<void>) | undefined

export interface Feature {
  name: string
  /** Its environment variables, under its heading of docs/configuration.md. `settingsOf` reads them. */
  settings?: SettingTable
  /** Adds its words to the command line. @param terminal of the commands that can run for another process */
  commands?: (program: Command, terminal: Terminal) => void
  /** Examples for the help of its commands, by their words. */
  examples?: Readonly<Record<string, readonly string[]>>
  /** What cells may ask for, by the names in docs/protocol.md. */
  methods?: (bridge: Bridge) => Methods
  /** What a client of MCP gets beside run_python: tools, prompts, resources, requests of its own. */
  offer?: MakeOffer
  /** What `sandbridge doctor` finds with it. */
  findings?: (bridge: OpenTenant) => Promise<Finding[]>
  /** Servers that run beside this process, for `sandbridge servers`. */
  processes?: (stateDir: string) => Promise<ServerProcess[]>
  /** Work of a bridge that serves many clients, beside serving them. */
  beside?: (bridge: OpenTenant) => Promise<Beside>
}

interface Beside {
  /** Begins nothing new. */
  stop(): void
  /** Resolves when what it began has ended. */
  idle(): Promise<void>
}

export interface ServerProcess {
  server: string
  state: string
  clients: { pid: number; cwd: string }[]
  /** Why clients in other folders, or any others, do not share it. */
  reason?: string
}

let plugged: readonly Feature[] = []

/** Called once, before anything else. */
export function plugIn(features: readonly Feature[]): void {
  plugged = features
  for (const { name, settings } of features) if (settings) addSettings(name, settings)
}

/** The features of this program, for what opens a bridge or a server. */
export const features = {
  get all(): readonly Feature[] {
    return plugged
  },
  methods: (bridge: Bridge): Methods =>
    Object.assign({}, ...plugged.map(({ methods }) => methods?.(bridge))) as Methods,
  findings: async (bridge: OpenTenant): Promise<Finding[]> =>
    (await Promise.all(plugged.map(async ({ findings }) => (await findings?.(bridge)) ?? []))).flat(),
  processes: async (stateDir: string): Promise<ServerProcess[]> =>
    (await Promise.all(plugged.map(async ({ processes }) => (await processes?.(stateDir)) ?? []))).flat(),
  get offers(): MakeOffer[] {
    return plugged.flatMap(({ offer }) => offer ?? [])
  },
}
