// A kind of personal data, and the way to recognise one by regular expressions. Pure.

/** A range of a text, and the kind of data in it. */
export interface Match {
  start: number
  end: number
  /** Label in tokens. */
  label: string
  /** What it stands for, if that is not the text of the range. */
  value?: string | undefined
  /** It is the beginning of a value, and may look like another one. */
  isCut?: boolean
}

export interface Recogniser {
  label: string
  find(text: string): Match[]
  /** It finds numbers in groups, so spaces, hyphens and digits of any script are to be those of ASCII. */
  readsNumbers?: boolean
  /** In data: whether the key marks the whole value as such data. */
  isValueOf?: (key: string, value: string) => boolean
}

interface Pattern {
  /** Has the flag g. The candidate is its first group, or the whole match if it has no group. */
  expression: RegExp
  /** A fast test: the text has no match unless this matches. */
  needs?: RegExp
  /** Whether the group `name` marks the group `value` as such data. */
  isName?: (name: string) => boolean
  /** Returns how many characters of a candidate at a position of the text count. Missing: all of them. */
  check?: (candidate: string, text: string, start: number, name: string) => number
}

export function byPatterns(label: string, patterns: readonly Pattern[]): Recogniser {
  return {
    label,
    find: (text) =>
      patterns.flatMap(({ expression, needs, isName, check }) => {
        if (needs && !needs.test(text)) return []
        const matches: Match[] = []
        for (const { 0: whole, 1: group, groups, index } of text.matchAll(expression)) {
          if (isName && !isName(groups!['name']!)) continue
          const candidate = groups?.['value'] ?? group ?? whole
          // A named value follows the match.
          const start = index + whole.length - (groups ? 0 : candidate.length)
          const length = check ? check(candidate, text, start, groups?.['name'] ?? '') : candidate.length
          if (length > 0) matches.push({ start, end: start + length, label })
        }
        return matches
      }),
  }
}

export const readingNumbers = (label: string, patterns: readonly Pattern[]): Recogniser => ({
  ...byPatterns(label, patterns),
  readsNumbers: true,
})
