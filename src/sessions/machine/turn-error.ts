import type { Exit, TurnVerdict } from '../../agents/agent.ts'
import type { ErrorInfo, Outcome } from '../../model/index.ts'
import { withContextOverflow } from '../../model/outcome/context-overflow.ts'
import { wasToldToStop } from '../../model/outcome/outcome.ts'

/** A process that died by a signal has no code; it counts as 1. */
export function exitStatus(exit: Exit): number {
  return exit.code ?? (exit.signal === undefined ? 0 : 1)
}

/** The error of an outcome, with a message for people. */
export function outcomeError(
  outcome: Outcome,
  verdict: TurnVerdict,
  exit: Exit | undefined,
  { why, refusal }: { why?: string; refusal?: string },
  canCompact?: boolean,
): ErrorInfo | undefined {
  switch (outcome) {
    case 'completed':
    case 'interrupted':
      return undefined
    case 'failed':
      return withContextOverflow(failure(verdict, exit), canCompact)
    case 'denied':
      return {
        code: 'permission_denied',
        message: refusal ?? 'something it needed was denied, and no person could allow it',
      }
    case 'timeout':
      return { code: 'timeout', message: withStderr(why ?? timeoutOf(exit), exit) }
    case 'crashed': {
      const message = withStderr(`the agent ended without a result (${describeExit(exit)})`, exit)
      if (verdict.error) return { code: verdict.error.code, message }
      return { code: 'protocol_error', message, advice: crashAdvice(exit) }
    }
    case 'lost':
      return why === undefined ? ownerGone() : { ...ownerGone(), message: withStderr(why, exit) }
    case 'refused':
    case 'max_steps':
    case 'max_budget':
      return verdict.error
    default:
      return outcome satisfies never
  }
}

/** The error of a turn whose server ended before the turn did. */
export function ownerGone(): ErrorInfo {
  return {
    code: 'connection_failed',
    message: 'the process that owned the turn went away',
    advice: 'The server of the turn was ended or crashed. Send the prompt again to continue the session.',
  }
}

/** Why a turn is lost whose agent ended unseen. `error` is what is known, such as a disk that is still full. */
export function unseenEnd(error: ErrorInfo | undefined): string {
  const ended = 'the agent ended while no server was running'
  return error ? `${ended}: ${error.message}` : ended
}

function crashAdvice(exit: Exit | undefined): string {
  const again = 'Send the prompt again to continue the session.'
  if (exit?.signal === 'SIGKILL')
    return `Another process or the system killed the agent, as for a lack of memory. ${again}`
  if (wasToldToStop(exit)) return `Another process told the agent to stop. ${again}`
  return `The agent crashed; its standard error and its raw frames may show why. ${again}`
}

function failure({ error }: TurnVerdict, exit: Exit | undefined): ErrorInfo {
  if (error === undefined) {
    const status = exit ? exitStatus(exit) : 0
    return { code: 'unknown', message: withStderr(`the agent exited with ${status} after its result`, exit) }
  }
  // A process that never started, or whose connection broke.
  if (error !== exit?.error) return error
  return { ...error, message: withStderr(error.message, exit) }
}

/** A start that took too long is explained by the process itself. */
function timeoutOf(exit: Exit | undefined): string {
  return exit?.error?.code === 'timeout' ? exit.error.message : 'the turn took longer than it was allowed to'
}

/** The reason for a crash is often on standard error alone. */
function withStderr(message: string, exit: Exit | undefined): string {
  return exit?.stderr === undefined ? message : `${message}: ${exit.stderr}`
}

function describeExit(exit: Exit | undefined): string {
  if (exit?.signal !== undefined) return `signal ${exit.signal}`
  return exit?.code === undefined ? 'connection lost' : `exit code ${exit.code}`
}
