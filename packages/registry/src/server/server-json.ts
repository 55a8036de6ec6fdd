// One server in a registry's format (`server.json`, schema 2025-12-11), reduced and limited in size. Its publisher
// writes all of it; parts of a command line are checked again where they are used. Pure.
import * as z from 'zod'
import { oneLine } from '@sandbridge/core/util/text'

const MAX_NAME_CHARS = 200
const MAX_DESCRIPTION_CHARS = 300
const MAX_ITEMS = 50

const word = z.string().min(1).max(1_000)
const address = z.string().min(1).max(2_000)
const words = z
  .unknown()
  .optional()
  .transform((text) => oneLine(text, MAX_DESCRIPTION_CHARS) || undefined)

const input = z.object({
  description: words,
  isRequired: z.boolean().catch(false).default(false),
  isSecret: z.boolean().catch(false).default(false),
  format: z.string().max(20).optional().catch(undefined),
  default: z.string().max(2_000).optional().catch(undefined),
  /** A fixed text, in which `{name}` stands for a variable. */
  value: z.string().max(2_000).optional().catch(undefined),
  choices: z.array(z.string().max(500)).max(MAX_ITEMS).optional().catch(undefined),
})
const withVariables = input.extend({ variables: z.record(z.string().max(100), input).optional().catch(undefined) })
const keyValue = withVariables.extend({ name: word })
const argument = withVariables.extend({
  type: z.enum(['positional', 'named']),
  name: word.optional(),
  valueHint: z.string().max(200).optional().catch(undefined),
})

const remote = z.object({
  type: z.enum(['streamable-http', 'sse']),
  url: address,
  headers: z.array(keyValue).max(MAX_ITEMS).default([]),
  variables: z.record(z.string().max(100), input).optional().catch(undefined),
})

const pack = z.object({
  registryType: z.string().max(20),
  identifier: address,
  version: z.string().max(200).optional(),
  registryBaseUrl: address.optional().catch(undefined),
  fileSha256: z.string().max(100).optional(),
  transport: z.object({ type: z.string().max(30), url: address.optional().catch(undefined) }),
  runtimeArguments: z.array(argument).max(MAX_ITEMS).default([]),
  packageArguments: z.array(argument).max(MAX_ITEMS).default([]),
  environmentVariables: z.array(keyValue).max(MAX_ITEMS).default([]),
})

/** An invalid package or remote is skipped: a server may have several. */
const known = <T extends z.ZodType>(schema: T) =>
  z
    .array(schema.optional().catch(undefined))
    .max(MAX_ITEMS)
    .default([])
    .transform((items) => items.filter((item) => item !== undefined))

const serverJson = z.object({
  name: z
    .string()
    .max(MAX_NAME_CHARS)
    .regex(/^[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/),
  description: words,
  title: words,
  version: z
    .string()
    .min(1)
    .max(200)
    .regex(/^[\w.+-]+$/),
  websiteUrl: address.optional().catch(undefined),
  packages: known(pack),
  remotes: known(remote),
})

export type ServerJson = z.infer<typeof serverJson>

/** Returns the server's description, or what is wrong with it. */
export function parseServerJson(value: unknown): ServerJson | { reason: string } {
  const parsed = serverJson.safeParse(value)
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  return { reason: `${issue?.path.join('.') || 'it'}: ${issue?.message ?? 'invalid'}` }
}

const official = z.object({
  status: z.enum(['active', 'deprecated', 'deleted']).catch('active').default('active'),
  isLatest: z.boolean().catch(true).default(true),
  updatedAt: z.string().max(40).optional().catch(undefined),
})

export interface ListedServer {
  server: ServerJson
  /** The registry's status of this version. */
  status: 'active' | 'deprecated' | 'deleted'
  isLatest: boolean
  updatedAt?: string | undefined
}

/** Parses one item of a page; undefined for an invalid entry or name. */
export function parseListed(value: unknown): ListedServer | undefined {
  const item = z.object({ server: z.unknown(), _meta: z.record(z.string(), z.unknown()).catch({}) }).safeParse(value)
  if (!item.success) return undefined
  const server = parseServerJson(item.data.server)
  if ('reason' in server) return undefined
  const meta = official.safeParse(item.data._meta['io.modelcontextprotocol.registry/official'] ?? {})
  return { server, ...(meta.data ?? { status: 'active', isLatest: true }) }
}
