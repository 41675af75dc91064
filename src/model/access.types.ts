// Generated from the schemas by `npm run schemas`; edit the schemas, not this file.

/** What a principal may do besides using its own sessions. `operator`: runs the server for others. */
export type Role = 'operator'
