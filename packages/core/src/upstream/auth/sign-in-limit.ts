/** How long a user may take to sign in to a server, in milliseconds. */
export const SIGN_IN_MS = 5 * 60_000
