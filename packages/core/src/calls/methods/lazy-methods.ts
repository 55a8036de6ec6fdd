// Methods of features: their names are known at once, and their code is loaded at the first call of one.
import type { Handler, Methods } from './method.ts'

export function lazyMethods<N extends string>(
  names: readonly N[],
  load: () => Promise<Readonly<Record<N, Handler>>>,
): Methods {
  let loading: Promise<Readonly<Record<N, Handler>>> | undefined
  const lazily =
    (name: N): Handler =>
    async (...call) =>
      (await (loading ??= load()))[name](...call)
  return Object.fromEntries(names.map((name) => [name, lazily(name)]))
}
