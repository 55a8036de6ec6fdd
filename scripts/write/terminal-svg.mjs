// Draws a recorded terminal session as an SVG: each command with its output. Pure.

const FONT_SIZE = 13
const LINE_HEIGHT = 18
const CHARACTER_WIDTH = 7.83
const MARGIN = 16
const BAR_HEIGHT = 32

const COLOURS = { 31: 'red', 32: 'green', 33: 'yellow', 34: 'blue', 35: 'magenta', 36: 'cyan' }
const STYLE = `text { font: ${FONT_SIZE}px ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; fill: #d6deeb; white-space: pre }
.prompt { fill: #7fdbca } .typed { fill: #fff; font-weight: 600 } .dim { fill: #8b98a9 } .bold { font-weight: 600 }
.red { fill: #ff6b6b } .green { fill: #9ece6a } .yellow { fill: #e0af68 } .blue { fill: #82aaff } .magenta { fill: #c792ea }
.cyan { fill: #7dcfff }`

/**
 * The final screen of a terminal, as lines of runs of one style. Supports the escapes that sandbridge writes.
 * @param {string} text the output of a program
 * @returns {{ text: string, style: string }[][]}
 */
export function screenOf(text) {
  const lines = [[]]
  let row = 0
  let column = 0
  let styles = []
  // oxlint-disable-next-line no-control-regex
  for (const [token, count, kind] of text.matchAll(/\u001b\[([\d;]*)([A-Za-z])|[^]/gu)) {
    if (kind === 'm') styles = restyled(styles, count)
    else if (kind === 'A') row = Math.max(0, row - Number(count || 1))
    else if (kind === 'K') lines[row].length = column
    else if (kind === 'J') {
      lines[row].length = column
      lines.length = row + 1
    } else if (token === '\r') column = 0
    else if (token === '\n') {
      row += 1
      column = 0
      lines[row] ??= []
    } else if (kind === undefined) lines[row][column++] = { text: token, style: styles.join(' ') }
  }
  return lines.map((line) => joined(line))
}

function restyled(styles, codes) {
  let next = styles
  for (const code of codes.split(';').map(Number)) {
    if (code === 0) next = []
    else if (code === 1) next = [...next, 'bold']
    else if (code === 2) next = [...next, 'dim']
    else if (code === 22) next = next.filter((style) => style !== 'bold' && style !== 'dim')
    else if (code === 39) next = next.filter((style) => !Object.values(COLOURS).includes(style))
    else if (COLOURS[code]) next = [...next, COLOURS[code]]
  }
  return next
}

function joined(characters) {
  const runs = []
  for (const character of Array.from(characters, (one) => one ?? { text: ' ', style: '' })) {
    const last = runs.at(-1)
    if (last?.style === character.style) last.text += character.text
    else runs.push({ ...character })
  }
  return runs
}

/** @param {{ typed: string, shown: string }[]} session commands and their output */
export function drawSession(session) {
  let line = 0
  let columns = 80
  const groups = session.map(({ typed, shown }) => {
    const command = [
      { text: '$ ', style: 'prompt' },
      { text: typed, style: 'typed' },
    ]
    const output = screenOf(shown)
    while (output.at(-1)?.every((run) => run.text.trim() === '')) output.pop()
    const texts = [command, ...output].map((runs) => drawLine(runs, line++))
    line += 1
    columns = Math.max(columns, ...[command, ...output].map((runs) => lengthOf(runs)))
    return `<g>${texts.join('')}</g>`
  })
  const width = Math.round(columns * CHARACTER_WIDTH + 2 * MARGIN)
  const height = BAR_HEIGHT + MARGIN + (line - 1) * LINE_HEIGHT
  const dots = ['#ff5f56', '#ffbd2e', '#27c93f'].map(
    (colour, index) => `<circle cx="${20 + index * 18}" cy="16" r="5.5" fill="${colour}"/>`,
  )
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}">
<style>${STYLE}</style>
<rect width="${width}" height="${height}" rx="8" fill="#0f1724"/>
${dots.join('')}
${groups.join('\n')}
</svg>
`
}

function drawLine(runs, line) {
  if (runs.length === 0) return ''
  const y = BAR_HEIGHT + (line + 1) * LINE_HEIGHT - 4
  const spans = runs.map(({ text, style }) =>
    style === '' ? escaped(text) : `<tspan class="${style}">${escaped(text)}</tspan>`,
  )
  return `<text x="${MARGIN}" y="${y}" xml:space="preserve">${spans.join('')}</text>\n`
}

const lengthOf = (runs) => runs.reduce((sum, { text }) => sum + text.length, 0)
const escaped = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
