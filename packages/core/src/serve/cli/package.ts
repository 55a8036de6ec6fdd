// What a package may bring to the core: read this first. A package is a folder of packages/ whose src/package.ts
// exports one `Package`; packages/sandbridge/src/packages.ts lists them. It names words and types only, and imports its
// code at first use, because a client must be answered quickly. A feature plugs in from above: settings, commands,
// methods, offers. A part fills a slot of a file `…-part.ts` (a provider, a store, a language, an observer), which the
// core asks for by `Part.for(…)`: without it, an error says what is missing. The core imports no package.
import type { Bridge } from '../../bridge/bridge.ts'
import type { OpenTenant } from '../../bridge/tenants/open-tenant.ts'
import type { Methods } from '../../calls/methods/method.ts'
import { addSettings, type SettingTable } from '../../config/settings/settings.ts'
import type { MakeOffer } from '../mcp/offer.ts'
import type { FillPart } from '../../util/part.ts'
import type { Command } from './command.ts'
import type { Terminal } from './terminal/terminal.ts'

/**
 * Whether a feature does the work of this process, which may load nothing before (see first.ts of sandbridge).
 * @returns what does it, and gets what runs the command here instead
 */
export type TakeOver = () => ((command: () => Promise<void>) => Promise<void>) | undefined

export interface Package {
  features?: readonly Feature[]
  parts?: readonly FillPart[]
}

/** What plugs in from above: the core is whole without it, and asks all that are there. */
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
  /** What `sandbridge servers` and the page say below the list of servers, a sentence each. */
  serverNotes?: (bridge: Pick<OpenTenant, 'stores' | 'set'>) => Promise<string[]>
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

/** The core finds their parts from then on. */
export function fillParts(packages: readonly Package[]): void {
  for (const { parts = [] } of packages) for (const fill of parts) fill()
}

/** Called once, before anything else. */
export function plugIn(packages: readonly Package[]): void {
  plugged = packages.flatMap(({ features: own }) => own ?? [])
  for (const { name, settings } of plugged) if (settings) addSettings(name, settings)
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
  serverNotes: async (bridge: Pick<OpenTenant, 'stores' | 'set'>): Promise<string[]> =>
    (await Promise.all(plugged.map(async ({ serverNotes }) => (await serverNotes?.(bridge)) ?? []))).flat(),
  get offers(): MakeOffer[] {
    return plugged.flatMap(({ offer }) => offer ?? [])
  },
}

export interface Finding {
  /** The area that was checked: `folders`, `servers`. */
  check: string
  level: 'ok' | 'warning' | 'broken'
  message: string
  advice?: string
  /** Applies the advice, if nothing can be lost by it. */
  fix?: () => Promise<void>
}
