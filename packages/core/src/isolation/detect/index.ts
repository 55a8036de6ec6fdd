// What packages use of isolation/detect.
export { chooseProvider, prepareAhead } from './provider-choice.ts'
export { createEmbedded, findDamagedSnapshot, probeEmbedded } from './embedded.ts'
export type { FoundProvider, PassedOver, ProviderChoice } from './native-part.ts'
