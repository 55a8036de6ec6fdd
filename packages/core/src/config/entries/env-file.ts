// Reads a file of environment variables with the grammar of the dotenv package, whose files other clients read. Pure.

// A quoted value may have several lines, and a comment behind it. A quote that is not closed is part of the value.
const ASSIGNMENT =
  /^[ \t]*(?:export[ \t]+)?([A-Za-z_][\w.-]*)[ \t]*=[ \t]*(?:(?:"((?:\\[^]|[^"\\])*)"|'([^']*)'|`([^`]*)`)[ \t]*(?:#.*)?$|(.*)$)/gm

/** Names and values in the order of the file. Lines that assign nothing are skipped. */
export function parseEnvFile(text: string): Record<string, string> {
  const lines = text.replace(/^\uFEFF/, '').replace(/\r\n?/g, '\n')
  return Object.fromEntries(
    [...lines.matchAll(ASSIGNMENT)].map(([, name, double, single, back, bare = '']): [string, string] => [
      name!,
      double?.replaceAll('\\n', '\n').replaceAll('\\r', '\r') ??
        single ??
        back ??
        bare.replace(/(^|\s+)#.*$/, '').trim(),
    ]),
  )
}
