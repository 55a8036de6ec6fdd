// What has changed between two looks at the tools of a server. Pure.

/** Lines such as `+ create_issue`: new, gone (`-`), or the same name with another description or schema (`~`). */
export function toolChanges(
  before: Readonly<Record<string, string>>,
  after: Readonly<Record<string, string>>,
): string[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].toSorted()
  return names.flatMap((name) => {
    if (!Object.hasOwn(before, name)) return [`+ ${name}`]
    if (!Object.hasOwn(after, name)) return [`- ${name}`]
    return before[name] === after[name] ? [] : [`~ ${name}`]
  })
}
