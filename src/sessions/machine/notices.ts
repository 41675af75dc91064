import type { FrameStream } from '../../framing/frame.ts'
import type { NoticeRaised } from '../../model/events/report.ts'
import type { LaunchKind } from '../../model/index.ts'
import type { Stage } from '../process/agent-limits.ts'
import type { SessionSetup } from '../process/setup.ts'
import type { Conversation } from './conversation.ts'

/** Records why a process is about to be ended whose stage lasted too long. */
export function recordOverdue(
  conversation: Conversation,
  { agent: { id: agent }, launch }: Pick<SessionSetup, 'agent' | 'launch'>,
  stage: Stage,
  ms: number,
): void {
  if (stage === 'finished') {
    conversation.setCause('finished')
    conversation.notify(exitForced(agent, launch, ms))
    return
  }
  const why = stage === 'closed' ? outputClosed(agent, ms) : startOverdue(agent, launch, ms)
  if (conversation.turn !== undefined) conversation.setCause('timeout', why)
  else conversation.notify({ type: 'notice.raised', level: 'error', code: 'agent_silent', message: why })
}

/** A process was ended because it did not exit by itself. */
function exitForced(agent: string, launch: LaunchKind, ms: number): NoticeRaised {
  const after = launch === 'oneshot' ? 'its result' : 'its input was closed'
  const late = `${agent} did not exit within ${ms / 1000} s after ${after} (timeouts.exitMs)`
  const message = `${late}; its process was ended`
  return { type: 'notice.raised', level: 'warning', code: 'exit_forced', message }
}

/** Why a process was ended that never became ready. */
function startOverdue(agent: string, launch: LaunchKind, ms: number): string {
  const missing = launch === 'oneshot' ? 'print anything' : 'answer its handshake'
  return `${agent} did not ${missing} within ${ms / 1000} s (timeouts.startMs)`
}

/** Why a process was ended that could report nothing more. */
function outputClosed(agent: string, ms: number): string {
  return `${agent} closed its standard output and did not exit within ${ms / 1000} s (timeouts.exitMs)`
}

/** The agent wrote nothing for `ms` in an open turn, since that time of the wall clock. */
export function agentSilent(agent: string, ms: number, since: number): NoticeRaised {
  const message = `no output from ${agent} for ${Math.round(ms / 1000)} s`
  return {
    type: 'notice.raised',
    level: 'info',
    code: 'agent_silent',
    message,
    data: { silentMs: ms, since },
  }
}

/** Processes that SIGKILL did not end; the operator has to look at them. */
export function processSurvived(pids: readonly number[]): NoticeRaised {
  const message = `processes that could not be ended: ${pids.join(', ')}`
  return { type: 'notice.raised', level: 'error', code: 'process_survived', message, data: { pids } }
}

/** The process is ended because it did not confirm an interrupt; the next turn gets a new one. */
export function interruptUnconfirmed(afterMs: number): NoticeRaised {
  const message = `The agent did not confirm an interrupt within ${afterMs} ms. Its process is ended, and the next prompt starts a new one.`
  return { type: 'notice.raised', level: 'warning', code: 'interrupt_unconfirmed', message }
}

/** The session was to continue by itself, and does not. */
export function notContinued(turn: number, why: string): NoticeRaised {
  const message = `Turn ${turn} is not continued: ${why}.`
  return { type: 'notice.raised', level: 'warning', code: 'not_continued', message, data: { turn } }
}

/** A process of ours ended while a turn ran. The agent may have ended since: the rest of its output tells. */
export function reattached(agent: string, stream: FrameStream = 'stdout'): NoticeRaised {
  const rest =
    stream === 'sse'
      ? 'It reads what the agent did meanwhile from the history that the agent keeps.'
      : 'It reads on where it stopped, and no output is missing.'
  const message = `The server was restarted while ${agent} worked. ${rest}`
  return { type: 'notice.raised', level: 'info', code: 'reattached', message }
}
