/** The warning of Node 22 about `node:sqlite`. */
const WARNING = /^SQLite is an experimental feature/

/** Suppresses this warning only: users cannot act on it. Returns a function that undoes it. */
export function quietSqlite(target: Pick<NodeJS.Process, 'emitWarning'> = process): () => void {
  const { emitWarning } = target
  const emit = emitWarning.bind(target)
  target.emitWarning = (warning: string | Error, ...rest: never[]) => {
    const message = typeof warning === 'string' ? warning : warning.message
    if (!WARNING.test(message)) emit(warning, ...rest)
  }
  return () => {
    target.emitWarning = emitWarning
  }
}
