// Workflows as separate tools and prompts, for clients that do not use `run_python`, and saved tools as prompts. The
// annotations of a workflow are derived from the tools that it calls; the worst is assumed where these are unknown.
import { hash } from 'node:crypto'
import {
  type SavedTool,
  savedToolCall,
  type SavedToolContent,
  type WorkflowDetails,
} from '../../keep/saved/saved-tool.ts'
import { type SkillFrontmatter, skillFrontmatter, skillText } from '../../keep/saved/skill-text.ts'
import type { SavedToolStore } from '../../keep/saved/saved-tool-store.ts'
import { oneLine, paragraphs } from '../../util/text/one-line.ts'
import { checkArguments, inputSchemaOf } from './parameters.ts'
import { codeFor, functionName, type Workflow } from './workflow-cell.ts'

const MAX_DESCRIPTION_CHARS = 2_000

interface ToolAnnotations {
  readOnlyHint: boolean
  destructiveHint: boolean
  idempotentHint: boolean
  openWorldHint: boolean
}

export interface ExposedTool {
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

/** The name pattern of the Agent Skills format; other workflows are not offered as skills. */
const SKILL_NAME = /^[a-z0-9]+(-[a-z0-9]+)*$/

export class ExposedWorkflows {
  readonly #names: readonly string[]
  readonly #store: Pick<SavedToolStore, 'find'>

  /** @param names from MCP_BRIDGE_EXPOSE; unknown ones are ignored */
  constructor(names: readonly string[], store: Pick<SavedToolStore, 'find'>) {
    this.#names = names
    this.#store = store
  }

  async tools(): Promise<ExposedTool[]> {
    return (await this.#all()).map((workflow) => ({
      name: workflow.workflow.title,
      description:
        paragraphs(workflow.description, MAX_DESCRIPTION_CHARS) || `Runs the workflow ${workflow.workflow.title}.`,
      inputSchema: inputSchemaOf(workflow.workflow.parameters),
      annotations: annotationsOf(workflow, workflow.workflow),
    }))
  }

  async skills(): Promise<ExposedSkill[]> {
    return (await this.#all()).filter(({ workflow }) => SKILL_NAME.test(workflow.title)).map(skillOf)
  }

  /** @param uri of its SKILL.md @returns undefined for an unknown one */
  async skill(uri: string): Promise<ExposedSkill | undefined> {
    return (await this.skills()).find((skill) => skill.uri === uri)
  }

  /** A saved tool that is no workflow has no arguments here: the text of its prompt has its signature. */
  async prompts(): Promise<ExposedPrompt[]> {
    const found = await Promise.all(this.#names.map(async (name) => ({ name, tool: await this.#saved(name) })))
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

  /** The text of a prompt with these arguments; undefined for an unknown prompt. */
  async prompt(name: string, args: Record<string, string>): Promise<string | undefined> {
    const tool = await this.#saved(name)
    if (!tool) return undefined
    const given = Object.entries(args).map(([key, text]) => `\n- ${oneLine(key, 100)}: ${text.slice(0, 10_000)}`)
    const values = given.length > 0 ? ` with these arguments:${given.join('')}` : ''
    return `Run this with run_python, and show its result: ${savedToolCall(tool)}${values}`
  }

  /**
   * The cell that runs a workflow with a client's arguments; undefined for an unknown workflow.
   * @throws BridgeError TOOL_ARGUMENTS_INVALID
   */
  async cell(name: string, args: unknown): Promise<string | undefined> {
    const workflow = await this.#find(name)
    if (!workflow) return undefined
    const given = (args ?? {}) as Record<string, unknown>
    checkArguments(given, workflow.workflow.parameters, workflow.workflow.title)
    return codeFor(workflow, given)
  }

  async #all(): Promise<Workflow[]> {
    const found = await Promise.all(this.#names.map((name) => this.#find(name)))
    return found.flatMap((workflow) => workflow ?? [])
  }

  async #find(name: string): Promise<Workflow | undefined> {
    const tool = await this.#saved(name)
    return tool?.workflow ? { ...tool, workflow: tool.workflow } : undefined
  }

  async #saved(name: string): Promise<SavedTool | undefined> {
    return this.#names.includes(name) ? this.#store.find(functionName(name)).catch(() => undefined) : undefined
  }
}

function skillOf({ workflow, ...tool }: Workflow): ExposedSkill {
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
function annotationsOf({ source, imports, servers }: SavedToolContent, { uses }: WorkflowDetails): ToolAnnotations {
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
