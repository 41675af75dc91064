import type { Readable, Writable } from 'node:stream'
import type { RequestOpened } from '../model/events/request.ts'
import type { AnswerCommand } from '../model/index.ts'

export interface KeyPlace {
  input: Readable & { isTTY?: boolean; setRawMode?(mode: boolean): unknown }
  output: Writable
  signal: AbortSignal
  /** Reads a line of text; undefined if the person cancelled. */
  reason(): Promise<string | undefined>
}

const CTRL_C = '\x03'
const ESCAPE = '\x1b'

/** Whether the agent offers to allow it for the whole session. */
function hasSession({ options }: RequestOpened): boolean {
  return options.some(({ effect, scope }) => effect === 'allow' && scope === 'session')
}

/** The keys for a request. No key allows more than this session: that belongs in the configuration of the agent. */
export function keyHint(request: RequestOpened): string {
  const session = hasSession(request) ? ' · s allow for this session' : ''
  return `  y allow once${session} · n deny · d deny with a reason `
}

/** Reads one key and returns the decision; undefined if the person cancelled or the signal fires. */
export async function decideByKey(
  request: RequestOpened,
  place: KeyPlace,
): Promise<AnswerCommand | undefined> {
  const { requestId } = request
  const { output } = place
  output.write(keyHint(request))
  for (;;) {
    const key = await readKey(place)
    if (key === 'y' || (key === 's' && hasSession(request))) {
      output.write(`${key}\n`)
      return { type: 'answer', requestId, decision: 'allow', scope: key === 'y' ? 'once' : 'session' }
    }
    if (key === 'n') {
      output.write('n\n')
      return { type: 'answer', requestId, decision: 'deny' }
    }
    if (key === 'd') {
      output.write('d\n')
      const message = await place.reason()
      if (message === undefined) return undefined
      return { type: 'answer', requestId, decision: 'deny', ...(message !== '' && { message }) }
    }
    if (key === undefined || key === CTRL_C || key === ESCAPE) {
      output.write('\n')
      return undefined
    }
  }
}

/** Reads one key; undefined if the input ends or the signal fires. */
async function readKey({ input, signal }: KeyPlace): Promise<string | undefined> {
  if (signal.aborted) return undefined
  const { promise, resolve } = Promise.withResolvers<string | undefined>()
  const onData = (chunk: Buffer | string) => resolve(chunk.toString())
  const onEnd = () => resolve(undefined)
  input.setRawMode?.(true)
  input.on('data', onData).once('end', onEnd)
  signal.addEventListener('abort', onEnd, { once: true })
  input.resume()
  try {
    return await promise
  } finally {
    input.off('data', onData).off('end', onEnd).pause()
    signal.removeEventListener('abort', onEnd)
    input.setRawMode?.(false)
  }
}
