// What packages use of isolation/detect.
export { findDamagedSnapshot, findProvider, probeProviders } from './detect.ts'
export type { PassedOver } from './remembered-choice.ts'
