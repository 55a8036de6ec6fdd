// What happens to calls that no rule matches. Pure.

/** `open` allows all, `careful` asks about calls that are not read-only, `readonly` denies them. */
export const PRESETS = ['open', 'careful', 'readonly'] as const
export type Preset = (typeof PRESETS)[number]
