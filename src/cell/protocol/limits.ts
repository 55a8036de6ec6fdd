// How much one frame may hold. Pure.

/** No real value has as many representations. */
export const MAX_BUNDLE_KEYS = 100
export const MAX_NOTES = 100
