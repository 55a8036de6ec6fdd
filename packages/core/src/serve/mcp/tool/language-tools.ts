// The tools for other languages than Python, loaded only if set. Their arguments are run_python's.
import type { OtherLanguage, Settings } from '../../../config/settings/settings.ts'
import { RUN_PYTHON_TOOL } from './run-python-tool.ts'
import { findPrograms } from '../../../util/process/find-program.ts'

const DESCRIPTIONS: Record<OtherLanguage, string> = {
  bash:
    "Bash in run_python's session. Tools are commands: " +
    'mcp search create issue; mcp github create_issue --title x; mcp --help',
  javascript:
    "JavaScript/TypeScript in run_python's session: await tools.search('create issue'); " +
    "await github.create_issue({title: 'x'})",
}

/** @param byHandle whether the tool has the argument `session` */
export function languageTool(language: OtherLanguage, byHandle: boolean) {
  const { _meta, inputSchema } = RUN_PYTHON_TOOL
  const { code, servers, timeout } = inputSchema.properties
  const properties = {
    code,
    servers: { type: servers.type, items: servers.items },
    timeout: { type: timeout.type },
    ...(byHandle && { session: { type: 'string' as const } }),
  }
  return {
    name: `run_${language}`,
    description: DESCRIPTIONS[language],
    inputSchema: { ...inputSchema, properties },
    _meta,
  }
}

/** The listed ones, as tools. */
export function languageTools(settings: Pick<Settings, 'languages' | 'runtime'>, byHandle: boolean) {
  return listedLanguages(settings).map((language) => languageTool(language, byHandle))
}

const ENGINES = ['podman', 'docker', 'bwrap']

export function listedLanguages({ languages, runtime }: Pick<Settings, 'languages' | 'runtime'>): OtherLanguage[] {
  const hasBash = runtime === 'auto' ? ENGINES.some((name) => findPrograms(name).length > 0) : runtime !== 'pyodide'
  return languages.filter((language) => language !== 'bash' || hasBash)
}
