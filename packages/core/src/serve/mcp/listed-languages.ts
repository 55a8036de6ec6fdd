// Which languages are listed: not bash where only the embedded sandbox can run. Asks no engine: nothing waits.
import type { OtherLanguage, Settings } from '../../config/settings/settings.ts'
import { findPrograms } from '../../util/process/find-program.ts'

const ENGINES = ['podman', 'docker', 'bwrap']

export function listedLanguages({ languages, runtime }: Pick<Settings, 'languages' | 'runtime'>): OtherLanguage[] {
  const hasBash = runtime === 'auto' ? ENGINES.some((name) => findPrograms(name).length > 0) : runtime !== 'pyodide'
  return languages.filter((language) => language !== 'bash' || hasBash)
}
