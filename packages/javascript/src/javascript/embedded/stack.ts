// Formats `error.stack` as Node does, with frames of cells only.

interface Site {
  getFileName: () => string | null
  getFunctionName: () => string | null
  getLineNumber: () => number
  getColumnNumber: () => number
}

export function stackLines(error: unknown, sites: Site[]): string {
  const lines = sites.flatMap((site) => {
    const file = site.getFileName() ?? ''
    const name = site.getFunctionName() ?? ''
    if (!/^Cell \d+$/.test(file) || name === '<eval>') return []
    const place = `${file}:${site.getLineNumber()}:${site.getColumnNumber()}`
    return [name === '' || name === '<anonymous>' ? `    at ${place}` : `    at ${name} (${place})`]
  })
  return [head(error), ...lines].join('\n')
}

function head(error: unknown): string {
  try {
    return Error.prototype.toString.call(error)
  } catch {
    return 'Error'
  }
}
