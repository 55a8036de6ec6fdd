// What the core uses of the page.
import type { servePage as serve } from './serve-page.ts'

export { pageBeside } from './page-beside.ts'

export const servePage: typeof serve = async (bridge, port) => (await import('./serve-page.ts')).servePage(bridge, port)
