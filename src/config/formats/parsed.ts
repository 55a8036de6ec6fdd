// What every format's parser answers. A parser's own message can quote the file, and the file holds secrets: only the kind of
// error and its place go into a reason. Pure.
export type Parsed = { value: unknown } | { reason: string }

export function placeOf(text: string, offset: number): string {
  const before = text.slice(0, offset)
  return `at line ${before.split('\n').length}, column ${offset - before.lastIndexOf('\n')}`
}
