// Exports a workflow as a Jupyter notebook (nbformat 4.5), for reading. Pure.
import type { SavedToolContent, WorkflowDetails } from '../../../keep/saved/saved-tool.ts'

export function notebookOf(tool: SavedToolContent, { title, parameters }: WorkflowDetails): string {
  const { name, imports, source, description } = tool
  const args = parameters.map((one) => `${one.name}=${one.default === undefined ? '...' : pythonText(one.default)}`)
  const cells = [
    { id: 'about', cell_type: 'markdown', metadata: {}, source: `# ${title}\n\n${description}` },
    codeCell('function', [...imports, ...(imports.length > 0 ? ['', ''] : []), source.trimEnd()].join('\n')),
    codeCell('call', `${tool.isAsync ? 'await ' : ''}${name}(${args.join(', ')})`),
  ]
  const metadata = { language_info: { name: 'python' }, sandbridge: { workflow: title } }
  return `${JSON.stringify({ nbformat: 4, nbformat_minor: 5, metadata, cells }, undefined, 1)}\n`
}

function codeCell(id: string, source: string): object {
  return { id, cell_type: 'code', metadata: {}, execution_count: null, outputs: [], source }
}

function pythonText(value: unknown): string {
  if (value === null) return 'None'
  if (typeof value === 'boolean') return value ? 'True' : 'False'
  if (Array.isArray(value)) return `[${value.map(pythonText).join(', ')}]`
  if (typeof value !== 'object') return JSON.stringify(value)
  return `{${Object.entries(value)
    .map(([key, item]) => `${JSON.stringify(key)}: ${pythonText(item)}`)
    .join(', ')}}`
}
