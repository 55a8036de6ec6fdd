// How results and failures are put into words, loaded at the first need: a client has its list of tools before that.

type Rendering = typeof import('../render/render-failure.ts') & typeof import('../render/render-result.ts')

let loading: Promise<Rendering> | undefined

export function rendering(): Promise<Rendering> {
  loading ??= Promise.all([import('../render/render-failure.ts'), import('../render/render-result.ts')]).then(
    ([failure, result]) => ({ ...failure, ...result }),
  )
  return loading
}
