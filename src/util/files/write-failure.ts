// Why the operating system refused a write, in words. Pure.

const REASONS: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
  EROFS: 'the disk is read-only',
}

/** @param otherwise what to say of another error, given its code, which is empty if it has none */
export function writeFailure(cause: unknown, otherwise: (code: string) => string): string {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : ''
  return REASONS[code] ?? otherwise(code)
}
