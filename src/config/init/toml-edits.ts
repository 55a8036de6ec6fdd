// Loaded only when TOML is edited.
export { stringify as stringifyToml } from 'smol-toml'
