// Why the operating system refused to write or read a file, in words. Pure.

type Reasons = Readonly<Record<string, string>>

const OF_WRITES: Reasons = {
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
  EROFS: 'the disk is read-only',
}
const OF_READS: Reasons = {
  ENOENT: 'no such file',
  ENOTDIR: 'a part of its path is not a folder',
  EISDIR: 'it is a folder',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
}

/** What to say of another error, given its code, which is empty if it has none. */
type Otherwise = (code: string) => string

export function writeFailure(cause: unknown, otherwise: Otherwise): string {
  return reasonIn(OF_WRITES, cause, otherwise)
}

export function readFailure(cause: unknown, otherwise: Otherwise): string {
  return reasonIn(OF_READS, cause, otherwise)
}

function reasonIn(reasons: Reasons, cause: unknown, otherwise: Otherwise): string {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : ''
  return reasons[code] ?? otherwise(code)
}
