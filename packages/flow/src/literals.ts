// The literals in a model's code: what it wrote as data. Pure.

const STRING_START = /(?:[rRbBuUfFtT]{0,3})('''|"""|'|"|`)/y
const NUMBER = /\d[\d_]*/y

/**
 * The texts and numbers that Python or JavaScript code has as literals. What stands in the braces of an f-string
 * is code, but is not told apart: names of variables are no values of anybody.
 */
export function literalsOf(code: string): string[] {
  const found: string[] = []
  for (let at = 0; at < code.length;) {
    if (code[at] === '#') {
      const end = code.indexOf('\n', at)
      at = end === -1 ? code.length : end
      continue
    }
    STRING_START.lastIndex = at
    const start = STRING_START.exec(code)
    if (start) {
      const quote = start[1]!
      const from = at + start[0].length
      const to = endOf(code, from, quote)
      found.push(withoutEscapes(code.slice(from, to)))
      at = to + quote.length
      continue
    }
    NUMBER.lastIndex = at
    const number = NUMBER.exec(code)
    if (number) {
      found.push(number[0].replaceAll('_', ''))
      at += number[0].length
      continue
    }
    // Past a name or number, so that no prefix is found in one.
    at += /^\w+/.exec(code.slice(at, at + 200))?.[0].length ?? 1
  }
  return found
}

function endOf(code: string, from: number, quote: string): number {
  for (let at = from; at < code.length; at += 1) {
    if (code[at] === '\\') at += 1
    else if (code.startsWith(quote, at)) return at
    else if (code[at] === '\n' && quote.length === 1 && quote !== '`') return at
  }
  return code.length
}

function withoutEscapes(literal: string): string {
  return literal
    .replaceAll(/\\\r?\n/g, '')
    .replaceAll(/\\[xu]([0-9A-Fa-f]{2,4})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
    .replaceAll(/\\([nrt])/g, '\n')
    .replaceAll(/\\(.)/g, '$1')
}
