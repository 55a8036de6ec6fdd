// Loaded only when TOML is edited. Pure.
export { stringify as stringifyToml } from 'smol-toml'
