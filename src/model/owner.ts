/** The principal of the person who runs the server, the library or the terminal. It knows the secrets of the server. */
export const OWNER = 'local'
