// What packages use of cell/render.
export { type MediaBlock, mediaOf } from './bundle.ts'
export { withHiddenShown } from '../../util/text/hidden-text.ts'
export { fromOthers, noteText, noticeLine } from './notice.ts'
export { joinParts, noteParts, type Part } from './parts.ts'
export { renderFailure, renderResult, type ShownResult, withParts } from './render-result.ts'
