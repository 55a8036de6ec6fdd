// What happens to calls that no rule is for. Pure.

/** All pass, those that are not read-only ask, or those are denied. */
export const PRESETS = ['open', 'careful', 'readonly'] as const
export type Preset = (typeof PRESETS)[number]
