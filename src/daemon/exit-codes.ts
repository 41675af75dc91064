/** A server in the background exits with this when another process has its data directory open. */
export const EXIT_LOCKED = 75
