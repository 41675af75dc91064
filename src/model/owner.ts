/** The principal of the person who runs the server, the library or the terminal. It knows the secrets of the server. */
export const OWNER = 'local'

const IMPORTING = '(import)'

/** The principal of a session while `importer` imports it. No token can have this name, so no client sees half a session. */
export const importing = (importer: string) => IMPORTING + importer

export const isImporting = (principal: string) => principal.startsWith(IMPORTING)

/** Who imports a session with this principal; for all other sessions the principal itself. */
export const importerOf = (principal: string) =>
  isImporting(principal) ? principal.slice(IMPORTING.length) : principal
