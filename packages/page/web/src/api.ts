// Requests to the bridge. The link's key stays with this origin, and proves that the page itself sends them.
const KEY_NAME = 'sandbridge-key'

/**
 * Takes the key from the URL that the link opened, and removes it there. Any page can open such a URL, with a key that
 * it made up, so a key that the bridge refuses does not replace the one that is there.
 */
export async function takeKey(): Promise<void> {
  const [, key, view = 'now'] = /^#key=([\w-]+)(?:&at=(ask))?$/.exec(location.hash) ?? []
  if (key === undefined) return
  history.replaceState(null, '', `${location.pathname}#/${view}`)
  const isRefused = (): Promise<boolean> =>
    requestWith(key, 'servers').then(
      ({ status }) => status === 401,
      () => false,
    )
  if (localStorage.getItem(KEY_NAME) === null || !(await isRefused())) localStorage.setItem(KEY_NAME, key)
}

/** The bridge refused or failed; `message` is for the user. */
export class ApiError extends Error {
  readonly status: number
  readonly hint: string | undefined

  constructor(status: number, message: string, hint?: string) {
    super(message)
    this.status = status
    this.hint = hint
  }
}

export function request(path: string, init: RequestInit = {}): Promise<Response> {
  return requestWith(localStorage.getItem(KEY_NAME) ?? '', path, init)
}

function requestWith(key: string, path: string, init: RequestInit = {}): Promise<Response> {
  return fetch(`api/${path}`, { ...init, headers: { 'x-sandbridge-key': key }, cache: 'no-store' })
}

/** @throws ApiError */
export async function ask<T>(path: string, params: Record<string, string> = {}): Promise<T> {
  const query = new URLSearchParams(params).toString()
  return read<T>(request(query === '' ? path : `${path}?${query}`))
}

/** @throws ApiError */
export async function tell<T>(path: string, params: object): Promise<T> {
  return read<T>(request(path, { method: 'POST', body: JSON.stringify(params) }))
}

async function read<T>(asked: Promise<Response>): Promise<T> {
  const response = await asked.catch(() => {
    throw new ApiError(0, 'The bridge does not answer.')
  })
  const body = (await response.json().catch(() => ({}))) as { error?: string; hint?: string }
  if (response.ok) return body as T
  throw new ApiError(response.status, body.error ?? `The bridge answered ${response.status}.`, body.hint)
}
