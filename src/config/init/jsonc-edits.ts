// Loaded only when JSON is edited.
export { applyEdits, modify } from 'jsonc-parser'
