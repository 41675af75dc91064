/** How Node 22 warns of `node:sqlite`. */
const WARNING = /^SQLite is an experimental feature/

/** Leaves out exactly this warning, where nobody who reads it could do anything about it. */
export function quietSqlite(target: Pick<NodeJS.Process, 'emitWarning'> = process): void {
  const emit = target.emitWarning.bind(target)
  target.emitWarning = (warning: string | Error, ...rest: never[]) => {
    const message = typeof warning === 'string' ? warning : warning.message
    if (!WARNING.test(message)) emit(warning, ...rest)
  }
}
