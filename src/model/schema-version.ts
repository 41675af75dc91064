// A file of its own: the threads of the SQLite store need it, and load no schemas.

/** Raised when an event changes shape. Older entries are converted when they are read. */
export const SCHEMA_VERSION = 3
