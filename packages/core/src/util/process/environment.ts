// The variables of a process by the rule of its platform: on Windows, names are the same in any case.

/** As `process.env` does it: a variable is found on Windows in any case, and listed as it was written. */
export function environmentOf<T extends string | undefined>(
  env: Record<string, T>,
  platform = process.platform,
): Record<string, T> {
  if (platform !== 'win32') return env
  const names = new Map(Object.keys(env).map((name) => [name.toUpperCase(), name]))
  const spelt = (name: string | symbol): string | symbol => names.get(String(name).toUpperCase()) ?? name
  return new Proxy(env, {
    get: (all, name) => Reflect.get(all, spelt(name)) as unknown,
    has: (all, name) => Reflect.has(all, spelt(name)),
    getOwnPropertyDescriptor: (all, name) => Reflect.getOwnPropertyDescriptor(all, spelt(name)),
  })
}

/** Of several environments the last with a variable decides. On Windows, Node would go by sorted spelling. */
export function mergedEnvironment<T extends string | undefined>(
  layers: readonly Readonly<Record<string, T>>[],
  platform = process.platform,
): Record<string, T> {
  const all = layers.flatMap((layer) => Object.entries(layer))
  const last = new Map(all.map((one) => [platform === 'win32' ? one[0].toUpperCase() : one[0], one]))
  return environmentOf(Object.fromEntries(last.values()), platform)
}
