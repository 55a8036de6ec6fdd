// Finds integers that JSON.parse may have rounded, such as ids of 64 bits. Pure.

/** Whether a parsed value has an integer beyond 2^53, so that its JSON may have had another one. */
export function hasRoundedInteger(value: unknown): boolean {
  const open: unknown[] = [value]
  while (open.length > 0) {
    const one = open.pop()
    if (typeof one === 'number') {
      if (Number.isInteger(one) && !Number.isSafeInteger(one)) return true
    } else if (typeof one === 'object' && one !== null) {
      for (const item of Array.isArray(one) ? one : Object.values(one)) {
        if (typeof item === 'number' || typeof item === 'object') open.push(item)
      }
    }
  }
  return false
}
