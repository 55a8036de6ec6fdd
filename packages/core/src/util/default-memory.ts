/** The memory limit of a sandbox, unless the user sets one. Packages for data need room for data. */
export const DEFAULT_MEMORY_BYTES = { plain: 512 << 20, withPackages: 1 << 30 }
