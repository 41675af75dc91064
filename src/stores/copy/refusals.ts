import { MainstemError } from '../../model/outcome/mainstem-error.ts'

/** The refusal of a server to open a store that a copy has not finished. */
export function unfinishedCopy(store: string, source: string): MainstemError {
  return new MainstemError('storage_failed', `${store} is an unfinished copy of ${source}`, {
    advice: 'Run the command that made it again, which completes it.',
  })
}

/** The refusal to copy a store that is in use. */
export function inUse(message: string, advice: string): MainstemError {
  return new MainstemError('conflict', message, { advice })
}

/** A copy that cannot become equal to its source. */
export function sourceChanged(what: string, cause?: unknown): MainstemError {
  const message = `${what} differs in the copy, because the source changed after the copy began`
  const advice = 'Run the command again with --restart, which copies everything anew.'
  return new MainstemError('conflict', message, { advice }, { cause })
}
