// What the core uses of the page.
export { servePage } from './serve-page.ts'
