// Decides, before anything else is loaded, whether this process is a relay to the user's resident bridge.

/** Only `run` over stdio is one, and only where the user wants it. Windows has no sockets that are one user's alone. */
export function wantsResident(): boolean {
  const words = process.argv.slice(2)
  const isRun = words.length === 0 || (words.length === 1 && words[0] === 'run')
  const { MCP_BRIDGE_RESIDENT: wanted = '', CI = '' } = process.env
  // The setting may say more: `on idle=60`.
  return isRun && /(?<!\S)on(?!\S)/i.test(wanted) && CI.trim() === '' && process.platform !== 'win32'
}
