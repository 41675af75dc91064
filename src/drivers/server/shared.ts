import { setImmediate } from 'node:timers/promises'

/** The next execution waits for this one and needs neither its result nor its error. */
const forget = () => undefined

/**
 * Shares work between callers: one execution serves all calls that were made before it began, and gets what each of
 * them asked for. Calls during an execution wait for the next one, so that every result was read after the call.
 */
export function shared<Asked, Result>(
  work: (asked: readonly Asked[]) => Promise<Result>,
): (asked: Asked) => Promise<Result> {
  let next: { asked: Asked[]; result: Promise<Result> } | undefined
  let previous: Promise<undefined> = Promise.resolve(undefined)
  const begin = async (asked: readonly Asked[], after: Promise<undefined>) => {
    await after
    // All calls of this turn of the event loop share one execution.
    await setImmediate()
    next = undefined
    return work(asked)
  }
  return (asked) => {
    if (next) next.asked.push(asked)
    else {
      const all = [asked]
      const result = begin(all, previous)
      next = { asked: all, result }
      previous = result.then(forget, forget)
    }
    return next.result
  }
}
