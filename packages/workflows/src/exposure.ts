// Workflows as separate tools and prompts, for clients that do not use `run_python`, and saved tools as prompts. The
// annotations of a workflow are derived from the tools that it calls; the worst is assumed where these are unknown.
import { hash } from 'node:crypto'
import type { Mask } from '@sandbridge/core/parts'
import { savedToolCall } from '@sandbridge/memories/saved/saved-tool.ts'
import { skillFrontmatter, skillText } from '@sandbridge/memories/saved/skill-text.ts'
import type { SavedTool, SavedToolContent, WorkflowDetails } from '@sandbridge/memories/saved/saved-tool.ts'
import type { SkillFrontmatter } from '@sandbridge/memories/saved/skill-text.ts'
import type { SavedToolStore } from '@sandbridge/memories/saved/saved-tool-store.ts'
import { oneLine, paragraphs } from '@sandbridge/core/util/text'
import { readArguments } from '@sandbridge/core/serve'
import type { OfferedCell } from '@sandbridge/core/serve/mcp'
import { checkArguments, inputSchemaOf } from './parameters.ts'
import { codeFor, functionName, type Workflow } from './workflow-cell.ts'

const MAX_DESCRIPTION_CHARS = 2_000

type ToolAnnotations = Record<'readOnlyHint' | 'destructiveHint' | 'idempotentHint' | 'openWorldHint', boolean>

interface ExposedTool {
  name: string
  description: string
  inputSchema: ReturnType<typeof inputSchemaOf>
  annotations: ToolAnnotations
}

interface ExposedPrompt {
  name: string
  description: string
  arguments: { name: string; description: string; required: boolean }[]
}

/** A workflow as an Agent Skill of one file. */
export interface ExposedSkill {
  /** URI of its SKILL.md. */
  uri: string
  frontmatter: SkillFrontmatter
  text: string
  /** Size of the text in bytes. */
  size: number
  digest: string
}

/** Finds what masks texts for the model; undefined where nothing is masked. It throws BridgeError MASK_UNAVAILABLE. */
type FindMasker = () => Promise<{ masked<T>(work: (mask: Mask) => T): Promise<T> } | undefined>

/** A saved tool as the model may see it: its texts are masked, and its source is missing. */
interface ShownTool extends Pick<SavedTool, 'name' | 'signature' | 'description' | 'isAsync'> {
  workflow?: ShownDetails
}

interface ShownDetails extends WorkflowDetails {
  annotations: ToolAnnotations
}

type Parameter = WorkflowDetails['parameters'][number]

/** The name pattern of the Agent Skills format; other workflows are not offered as skills. */
const SKILL_NAME = /^[a-z0-9]+(-[a-z0-9]+)*$/

export class ExposedWorkflows {
  readonly #names: readonly string[]
  readonly #store: Pick<SavedToolStore, 'find'>
  readonly #findMasker: FindMasker

  /** @param names from MCP_BRIDGE_EXPOSE; unknown ones are ignored */
  constructor(names: readonly string[], store: Pick<SavedToolStore, 'find'>, findMasker: FindMasker) {
    this.#names = names
    this.#store = store
    this.#findMasker = findMasker
  }

  /** Leaves out tools that cannot be masked now, because a client needs the rest of the list. */
  async tools(): Promise<ExposedTool[]> {
    const shown = await Promise.all(this.#names.map((name) => this.#shown(name).catch(() => undefined)))
    return shown.flatMap((tool) => {
      if (!tool?.workflow) return []
      const { title, parameters, annotations } = tool.workflow
      return {
        name: title,
        description: paragraphs(tool.description, MAX_DESCRIPTION_CHARS) || `Runs the workflow ${title}.`,
        inputSchema: inputSchemaOf(parameters),
        annotations,
      }
    })
  }

  /** @throws BridgeError MASK_UNAVAILABLE */
  async skills(): Promise<ExposedSkill[]> {
    const shown = await Promise.all(this.#names.map((name) => this.#shown(name)))
    return shown.flatMap((tool) =>
      tool?.workflow && SKILL_NAME.test(tool.workflow.title) ? skillOf(tool, tool.workflow) : [],
    )
  }

  /** @param uri of its SKILL.md @returns undefined for an unknown one @throws BridgeError MASK_UNAVAILABLE */
  async skill(uri: string): Promise<ExposedSkill | undefined> {
    return (await this.skills()).find((skill) => skill.uri === uri)
  }

  /**
   * A saved tool that is no workflow has no arguments here: the text of its prompt has its signature.
   * @throws BridgeError MASK_UNAVAILABLE
   */
  async prompts(): Promise<ExposedPrompt[]> {
    const found = await Promise.all(this.#names.map(async (name) => ({ name, tool: await this.#shown(name) })))
    return found.flatMap(({ name, tool }) => {
      if (!tool) return []
      const { description, workflow: { title, parameters } = { title: name, parameters: [] } } = tool
      return {
        name: title,
        description: oneLine(description, MAX_DESCRIPTION_CHARS),
        arguments: parameters.map(({ name: parameter, type, required }) => {
          return { name: parameter, description: type, required }
        }),
      }
    })
  }

  /**
   * The text of a prompt with these arguments; undefined for an unknown prompt.
   * @throws BridgeError MASK_UNAVAILABLE
   */
  async prompt(name: string, args: Record<string, string>): Promise<string | undefined> {
    const tool = await this.#shown(name)
    if (!tool) return undefined
    const given = Object.entries(args).map(([key, text]) => `\n- ${oneLine(key, 100)}: ${text.slice(0, 10_000)}`)
    const values = given.length > 0 ? ` with these arguments:${given.join('')}` : ''
    return `Run this with run_python, and show its result: ${savedToolCall(tool)}${values}`
  }

  /**
   * The cell that runs a workflow with a client's arguments; undefined for an unknown workflow.
   * @throws BridgeError TOOL_ARGUMENTS_INVALID
   */
  async cell(name: string, args: unknown): Promise<OfferedCell | undefined> {
    const tool = await this.#saved(name)
    if (!tool?.workflow) return undefined
    const workflow: Workflow = { ...tool, workflow: tool.workflow }
    const { parameters, title } = workflow.workflow
    const { args: read, note } = readArguments(args, { name: title, ...inputSchemaOf(parameters) })
    checkArguments(read, parameters, title)
    return { code: codeFor(workflow, read), note }
  }

  /**
   * Everything that is offered comes from here, so that none of it can show a value which the bridge put into code in
   * place of a token.
   * @throws BridgeError MASK_UNAVAILABLE
   */
  async #shown(name: string): Promise<ShownTool | undefined> {
    const tool = await this.#saved(name)
    if (!tool) return undefined
    const masker = await this.#findMasker()
    return masker ? masker.masked((mask) => shownTool(tool, mask)) : shownTool(tool, (text) => text)
  }

  async #saved(name: string): Promise<SavedTool | undefined> {
    return this.#names.includes(name) ? this.#store.find(functionName(name)).catch(() => undefined) : undefined
  }
}

/** Names stay as they are: code and clients call the tool and pass its arguments by them. */
function shownTool({ name, signature, description, isAsync, ...tool }: SavedTool, mask: Mask): ShownTool {
  const shown = { name, description: mask(description), signature: mask(signature), isAsync }
  if (!tool.workflow) return shown
  const { title, parameters, packages, uses } = tool.workflow
  return {
    ...shown,
    workflow: {
      title,
      parameters: parameters.map((one) => shownParameter(one, mask)),
      packages: packages.map((text) => mask(text)),
      uses: uses.map((use) => ({ ...use, server: mask(use.server), tool: mask(use.tool) })),
      annotations: annotationsOf(tool, tool.workflow),
    },
  }
}

/**
 * Leaves out a default that holds a masked value: a client could pass its token on. A call without the argument still
 * uses the default.
 */
function shownParameter({ name, type, required, default: value }: Parameter, mask: Mask): Parameter {
  const shown = { name, type: mask(type), required }
  if (value === undefined) return shown
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return mask(text, name) === text ? { ...shown, default: value } : shown
}

function skillOf(tool: ShownTool, workflow: ShownDetails): ExposedSkill {
  const text = skillText(tool, workflow)
  const bytes = Buffer.from(text)
  return {
    uri: `skill://${workflow.title}/SKILL.md`,
    frontmatter: skillFrontmatter(tool, workflow),
    text,
    size: bytes.length,
    digest: `sha256:${hash('sha256', bytes)}`,
  }
}

/** Ways to call tools that a list of calls does not show. */
const INDIRECT =
  /\b(runtime|mcp|mcp_servers|workflows|user_tools|getattr|globals|locals|vars|eval|exec|compile|importlib|sys|__\w+__)\b/

/** @param tool its source is searched for calls that `uses` does not list */
function annotationsOf(
  { source, imports, servers }: Pick<SavedToolContent, 'source' | 'imports' | 'servers'>,
  { uses }: WorkflowDetails,
): ToolAnnotations {
  const passesServer = servers.some(({ variable }) => new RegExp(`\\b${variable}\\b(?!\\.[A-Za-z_])`).test(source))
  const isOpen = passesServer || INDIRECT.test(source) || imports.some((line) => INDIRECT.test(line))
  const readOnlyHint = !isOpen && uses.every((use) => use.readOnly)
  return {
    readOnlyHint,
    destructiveHint: !readOnlyHint && (isOpen || uses.some((use) => use.destructive)),
    idempotentHint: !isOpen && uses.every((use) => use.idempotent),
    openWorldHint: isOpen || uses.some((use) => use.openWorld),
  }
}
