// The rules of a user who has many.

/** 500 rules, 20 of them with conditions on these arguments. None denies a measured call. */
export function ruleTexts(owner = 'owner', title = 'title'): (string | { tool: string; when: string })[] {
  const plain = Array.from(
    { length: 480 },
    (_, index) => `server${index % 60}__${index % 2 ? 'delete' : 'drop'}_${index}*`,
  )
  const conditions = Array.from({ length: 20 }, (_, index) => ({
    // Half of them match every server.
    tool: index % 2 ? '*' : `server${index}__*`,
    when: `args.${owner} == 'nobody${index}' || args.${title}.startsWith('x${index}')`,
  }))
  return [...plain, ...conditions]
}
