// Says that memory is too little for a bridge: the system ends it without a word.
const NEEDED_MB = 96

/** A sentence; empty where memory suffices. */
export function tightMemory(): string {
  const mb = Math.floor(process.constrainedMemory() / 2 ** 20)
  if (mb === 0 || mb >= NEEDED_MB) return ''
  return `All processes here together may use ${mb} MB of memory, and a bridge with one sandbox needs ${NEEDED_MB} MB.`
}

/** The memory limit of a sandbox, unless the user sets one. Packages for data need room for data. */
export const DEFAULT_MEMORY_BYTES = { plain: 512 << 20, withPackages: 1 << 30 }
