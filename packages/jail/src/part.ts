// Fills `jails` of packages/core/src/isolation/jail-part.ts.
export { findJailMaker } from './jail-maker.ts'
export { openJail } from './open-jail.ts'
export { programInPod } from './jails/server-pod.ts'
export { userPlacesIn } from './places/view.ts'
