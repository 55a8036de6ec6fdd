// The words of names like `createIssue`, `create_issue` and `create-issue`. Pure.

/** Parts words by spaces where only a capital does. */
export function withSpaces(name: string): string {
  return name.replaceAll(/([\p{Ll}\p{N}])(\p{Lu})/gu, '$1 $2')
}

/** In lower case. */
export function nameWords(name: string): string[] {
  return withSpaces(name)
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '')
}
