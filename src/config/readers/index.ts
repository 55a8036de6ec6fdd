// Every source of server definitions, in order of precedence: the first to define a name keeps it.
import { configMcp, mcps, projectServers, serversConfig } from './mcp-servers.ts'
import type { Reader } from './reader.ts'

export const READERS: readonly Reader[] = [serversConfig, mcps, configMcp, projectServers]
