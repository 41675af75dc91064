/** A server in the background exits with this when another process has its data directory open. */
export const EXIT_LOCKED = 75

/** Exit code of a server that left its agents to the next one, as after SIGHUP. A service manager starts it again. */
export const EXIT_RESTART = 129
