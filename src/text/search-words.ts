// The words of a filter that a person types: all of them have to be found, in any order. Pure.

export function wordsOf(text = ''): string[] {
  return [...new Set(text.toLowerCase().split(/\s+/).filter(Boolean))]
}
