// Formats a workflow as an Agent Skill: a SKILL.md that describes it and how to run it. Pure.
import { oneLine, paragraphs } from '@sandbridge/core/util/text'
import type { SavedToolContent, WorkflowDetails } from './saved-tool.ts'

/** Limit of the Agent Skills format. */
const MAX_DESCRIPTION_CHARS = 1_024

export interface SkillFrontmatter {
  name: string
  description: string
}

export function skillFrontmatter(
  { description }: Pick<SavedToolContent, 'description'>,
  { title }: WorkflowDetails,
): SkillFrontmatter {
  return { name: title, description: oneLine(description, MAX_DESCRIPTION_CHARS) || `Runs the workflow ${title}.` }
}

export function skillText(
  content: Pick<SavedToolContent, 'name' | 'signature' | 'description'>,
  workflow: WorkflowDetails,
): string {
  const { name, signature, description } = content
  const { title, parameters, uses, packages } = workflow
  const { description: about } = skillFrontmatter(content, workflow)
  const options = parameters.map((one) => ` --${one.name.replaceAll('_', '-')} VALUE`).join('')
  const parts = [
    `---\nname: ${title}\ndescription: ${JSON.stringify(about)}\n---`,
    `# ${title}`,
    paragraphs(description, 20_000) || about,
    `In a cell of \`run_python\`:\n\n\`\`\`python\nawait workflows.${name}${oneLine(signature, 300)}\n\`\`\``,
    `In a terminal, without a model:\n\n\`\`\`console\nsandbridge run-workflow ${title}${options}\n\`\`\``,
    ...listed(
      'Parameters',
      parameters.map(
        ({ name: own, type, required }) => `\`${own}\`${type && `: \`${type}\``}${required ? ', required' : ''}`,
      ),
    ),
    ...listed(
      'Tools that it calls',
      uses.map(({ server, tool }) => `${oneLine(server, 200)}: \`${oneLine(tool, 200)}\``),
    ),
    ...listed(
      'Packages',
      packages.map((one) => `\`${one}\``),
    ),
  ]
  return `${parts.join('\n\n')}\n`
}

function listed(title: string, items: string[]): string[] {
  return items.length === 0 ? [] : [`## ${title}\n\n${items.map((item) => `- ${item}`).join('\n')}`]
}
