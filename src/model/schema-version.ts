/** Raised when an event changes shape. Older entries are converted when they are read. */
export const SCHEMA_VERSION = 3
