// Writes the entries of settings into docs/configuration.md, in the section of their heading. What else a section says
// stays where it is. Pure.
const WIDTH = 120
const ENTRIES = /(?:^- \*\*`MCP_[A-Z_]+(?:=\w+)?`\*\*.*\n(?: {2}.*\n)*\n*)+/m

/**
 * @param {string} page
 * @param {{ name: string, variable: string, heading: string }[]} settings
 */
export function withSettings(page, settings) {
  const start = page.indexOf('\n## Settings\n')
  const parts = page.slice(start).split(/(?=^### )/m)
  const headings = [...new Set(settings.map(({ heading }) => heading))]
  for (const heading of headings) {
    const entries = settings.filter((one) => one.heading === heading).map(entryOf)
    const at = parts.findIndex((part) => part.startsWith(`### ${heading}\n`))
    if (at < 0) throw new Error(`docs/configuration.md has no heading "### ${heading}" under Settings`)
    const text = `${entries.join('\n')}\n\n`
    // Only the first block of entries is kept: it has all.
    const [before, ...after] = parts[at].split(ENTRIES)
    parts[at] =
      after.length === 0 ? `${parts[at].trimEnd()}\n\n${text}` : `${before}${text}${after.join('').replace(/^\n+/, '')}`
  }
  return page.slice(0, start) + `${parts.join('').trimEnd()}\n`
}

/** The entry of a setting, as one line: in brackets its choices, or its default. */
export function entryText({ name, variable, meaning, defaultText, allowed, onlyVariable }) {
  const inFile = onlyVariable === undefined ? `, \`${name}\`` : ''
  const values = valuesOf(defaultText, allowed.replace(/^names separated by commas: /, ''))
  return `- **\`${variable}\`**${inFile}: ${meaning}${values && ` (${values})`}`
}

/** The choices with the default in bold; or the default. An error says what else is allowed. */
function valuesOf(standard, allowed) {
  if (allowed === '1, true, yes, on, 0, false, no, off') return standard === '1' ? 'on' : 'off'
  const choices = allowed.split(', ')
  // A table on the page has the names of sources.
  if (choices.length > 10) return standard
  if (choices.includes(standard))
    return [`**${standard}**`, ...choices.filter((choice) => choice !== standard)].join(', ')
  if (/^[a-z]+(?:, [a-z]+)+$/.test(allowed)) return allowed
  return /^(?:none|no limit)$/.test(standard) ? '' : standard
}

const entryOf = (setting) => wrapped(entryText(setting))

function wrapped(text) {
  const [first, ...words] = text.split(/(?<=\S) /)
  const lines = [first]
  for (const word of words) {
    const line = lines.at(-1)
    if (line.length + 1 + word.length > WIDTH) lines.push(`  ${word}`)
    else lines[lines.length - 1] = `${line} ${word}`
  }
  return lines.join('\n')
}
