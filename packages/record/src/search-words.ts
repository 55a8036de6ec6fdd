// Splits a filter that a person types into words. All must be found, in any order. Pure.

export function wordsOf(text = ''): string[] {
  return [...new Set(text.toLowerCase().split(/\s+/).filter(Boolean))]
}
