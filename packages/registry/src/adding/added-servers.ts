// The servers that were added from a registry: `added-servers.json` in the state folder. Discovery reads it like any
// file there; beside each entry it holds the origin of the entry. Secrets are separate files that the entry names.
import { hash } from 'node:crypto'
import { readdir, rm, rmdir } from 'node:fs/promises'
import path from 'node:path'
import * as z from 'zod'
import { jailHome } from '@sandbridge/core/parts'
import { ADDED_SERVERS_FILE } from '@sandbridge/core/config'
import { BridgeError } from '@sandbridge/core/errors.ts'
import { JsonDocument } from '@sandbridge/core/util/stores'
import { decodeText } from '@sandbridge/core/util/bytes'
import { makePrivateFolder, readOrdinary, replaceFile } from '@sandbridge/core/util/files'
import { didYouMeanText } from '@sandbridge/core/util/text'
import { literal, type NeededInput } from '../server/needed-inputs.ts'
import { type Addition, withAnswers } from './plan-addition.ts'

const origin = z.object({
  /** The registry's name of the server. */
  server: z.string(),
  version: z.string(),
  registry: z.string(),
  kind: z.string(),
  addedAt: z.string(),
  /** The folder that its MCPB file was unpacked to. */
  folder: z.string().optional(),
  /** Texts of the entry by input id: a plain text, or the file of a secret. */
  answers: z.record(z.string(), z.string()),
  /** For each tool, a hash of its definition when it was last checked. */
  tools: z.record(z.string(), z.string()),
})

export type AddedServer = z.infer<typeof origin>

const document = z.object({
  mcpServers: z.record(z.string(), z.record(z.string(), z.unknown())),
  added: z.record(z.string(), origin),
})

interface KeptTool {
  name: string
}

export class AddedServers {
  readonly file: string
  readonly #document: JsonDocument<z.infer<typeof document>>
  readonly #stateDir: string
  readonly #secrets: string

  constructor(stateDir: string) {
    this.file = path.join(stateDir, ADDED_SERVERS_FILE)
    this.#stateDir = stateDir
    this.#secrets = path.join(stateDir, '.sandbridge', 'secrets')
    this.#document = new JsonDocument({
      document: this.file,
      empty: () => ({ mcpServers: {}, added: {} }),
      parse: (json) => document.safeParse(json).data,
      damaged: { name: 'The list of added servers', hint: 'Correct the file, or move it away.' },
    })
  }

  async list(): Promise<Record<string, AddedServer>> {
    return (await this.#document.read()).added
  }

  /** @throws BridgeError SERVER_REFUSED when it was not added */
  async get(name: string): Promise<AddedServer> {
    const added = await this.list()
    const found = Object.hasOwn(added, name) ? added[name] : undefined
    if (found) return found
    throw new BridgeError('SERVER_REFUSED', `No server '${name.slice(0, 200)}' was added from a registry`, {
      hint: didYouMeanText(name, Object.keys(added)) || 'A server of a config file is changed in that file.',
    })
  }

  /** @param answers the user's answers by input id; a text of an earlier version is kept unchanged */
  async save(
    addition: Addition,
    given: { answers: ReadonlyMap<string, string>; kept?: Record<string, string>; tools: readonly KeptTool[] },
  ): Promise<void> {
    const { name, found, kind, entry, inputs, folder } = addition
    const texts = new Map(Object.entries(given.kept ?? {}))
    for (const input of inputs) {
      const answer = given.answers.get(input.id)
      if (answer !== undefined)
        texts.set(input.id, input.secret ? await this.#keepSecret(name, input, answer) : literal(answer))
    }
    const open = inputs.filter(({ id }) => !texts.has(id))
    const used = new Set(inputs.map(({ id }) => id))
    const server: AddedServer = {
      server: found.server.name,
      version: found.server.version,
      registry: found.registry,
      kind,
      addedAt: new Date().toISOString(),
      ...(folder !== undefined && { folder }),
      answers: Object.fromEntries([...texts].filter(([id]) => used.has(id))),
      tools: toolHashes(given.tools),
    }
    await this.#document.update((all) => {
      all.mcpServers[name] = {
        ...withAnswers(entry, texts),
        ...(open.length > 0 && { inputs: open.map(asPrompt) }),
      }
      all.added[name] = server
    })
    await this.#keepOnly(name, folder)
  }

  /** The answers for a server's inputs, including secrets. */
  async texts(name: string): Promise<Map<string, string>> {
    const { answers } = await this.get(name)
    const read = Object.entries(answers).map(async ([id, text]): Promise<[string, string]> => {
      const [, file] = /^\$\{file:(.*)\}$/.exec(text) ?? []
      return [
        id,
        file === undefined
          ? text.replaceAll('${$}', '$')
          : await readOrdinary(file).then(
              (bytes) => decodeText(bytes, false),
              () => '',
            ),
      ]
    })
    return new Map((await Promise.all(read)).filter(([, text]) => text !== ''))
  }

  /** @throws BridgeError SERVER_REFUSED when it was not added */
  async remove(name: string): Promise<void> {
    await this.get(name)
    await this.#document.update((all) => {
      delete all.mcpServers[name]
      delete all.added[name]
    })
    // It may have written its secrets to its own home folder.
    for (const folder of [
      path.join(this.#secrets, fileName(name)),
      jailHome(name, this.#stateDir),
      this.unpackedOf(name),
    ])
      await rm(folder, { recursive: true, force: true })
  }

  /** The parent folder of this server's unpacked MCPB files. The bridge does not hide it from servers. */
  unpackedOf(name: string): string {
    return path.join(this.#stateDir, 'added-servers', fileName(name))
  }

  /** Removes the unpacked folder of a server that was not saved. */
  async discard(folder: string): Promise<void> {
    await rm(folder, { recursive: true, force: true })
    // Another version of it may be in use.
    await rmdir(path.dirname(folder)).catch(() => {})
  }

  /** Removes the unpacked folders of earlier versions. */
  async #keepOnly(name: string, folder: string | undefined): Promise<void> {
    const parent = this.unpackedOf(name)
    for (const one of await readdir(parent).catch(() => [])) {
      const other = path.join(parent, one)
      if (other !== folder) await rm(other, { recursive: true, force: true })
    }
  }

  /** Writes a file that only its owner can read. @returns how the entry refers to it */
  async #keepSecret(server: string, { id }: NeededInput, secret: string): Promise<string> {
    const folder = path.join(this.#secrets, fileName(server))
    const file = path.join(folder, fileName(id))
    if (/[{}]|:-/.test(file)) {
      throw new BridgeError(
        'SERVER_REFUSED',
        'A secret cannot be stored in a folder whose path has { or } or :- in it',
        {
          hint: 'Set MCP_BRIDGE_STATE_DIR to another folder.',
        },
      )
    }
    makePrivateFolder(folder)
    await replaceFile(file, secret)
    return `\${file:${file}}`
  }
}

/** The input in VS Code's format. */
export function asPrompt({ id, description, name, secret, choices }: NeededInput): object {
  const what = description ? `${name}: ${description}` : name
  if (choices) return { id, type: 'pickString', description: what, options: choices }
  return { id, type: 'promptString', description: what, ...(secret && { password: true }) }
}

/** Names of tools, each with a hash of its definition. */
export function toolHashes(tools: readonly KeptTool[]): Record<string, string> {
  return Object.fromEntries(tools.map((tool) => [tool.name, hash('sha256', JSON.stringify(tool)).slice(0, 16)]))
}

/** Letters, digits and a hash: two names never share a file on any system. */
function fileName(name: string): string {
  const digest = hash('sha256', name).slice(0, 8)
  return `${name.replaceAll(/[^A-Za-z0-9]+/g, '-').slice(0, 60)}-${digest}`
}
