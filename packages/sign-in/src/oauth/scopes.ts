/** Each scope once, in the order given. */
export function scopeUnion(...scopes: (string | undefined)[]): string {
  return [...new Set(scopes.flatMap((scope) => scope?.split(/\s+/).filter(Boolean) ?? []))].join(' ')
}
