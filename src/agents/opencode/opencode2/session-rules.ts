import type { Decoded, Emitted } from '../../agent.ts'
import { emit, emitAll, held, nothing } from '../../kit/decoded.ts'
import { type Fields, fields, text } from '../../kit/fields.ts'
import { updateSession } from '../../kit/known.ts'
import { ruleTable } from '../../kit/rules.ts'
import { modelName } from '../effects.ts'
import { blockDelta, blockEnded, blockStarted } from './blocks.ts'
import { called, failed, inputDelta, inputStarted, isBeforeTurn, progressed, succeeded } from './calls.ts'
import { failureOf } from './errors.ts'
import {
  errorNotice,
  executionFailed,
  executionInterrupted,
  executionStarted,
  executionSucceeded,
  retryScheduled,
  stepEnded,
  stepFailed,
  stepStarted,
} from './executions.ts'
import { cancelled, delivered, deliveryChanged, enqueued } from './inbox.ts'
import { compacted } from './recovery.ts'
import type { OpencodeState } from './state.ts'
import type { Thread } from './thread.ts'
import { beginMissed, endTurn } from './turn.ts'

type Decode = (state: OpencodeState, thread: Thread, data: Fields, created: number) => Decoded

/** An event of a session that we follow. */
interface SessionRule {
  /**
   * What the event proves about the output that its thread holds back: nothing, that the ended text is complete, that
   * everything may be emitted, or that the text is partial.
   */
  proves: 'nothing' | 'text' | 'everything' | 'partial'
  decode: Decode
}

type Emits = (state: OpencodeState, thread: Thread, data: Fields, created: number) => Emitted[]

const rule = (proves: SessionRule['proves'], decode: Decode): SessionRule => ({ proves, decode })
const emits = (proves: SessionRule['proves'], one: Emits): SessionRule =>
  rule(proves, (state, thread, data, created) => emitAll(one(state, thread, data, created)))
/** Work of the model. It begins the turn whose beginning was missed. What the thread holds back is reported later. */
const works = (proves: SessionRule['proves'], one: Emits): SessionRule => ({
  proves,
  decode(state, thread, data, created) {
    const { heldCalls, endedBlock } = thread
    const calls = heldCalls.length
    const begun = thread === state.root ? beginMissed(state) : []
    const emitted = [...begun, ...one(state, thread, data, created)]
    const holdsText = thread.endedBlock !== endedBlock && (thread.endedBlock?.text ?? '') !== ''
    const holdsCall = thread.heldCalls === heldCalls && heldCalls.length > calls
    return holdsText || holdsCall ? held(emitted) : emitAll(emitted)
  },
})
const silent = rule('everything', () => nothing)

export const sessionRuleOf = ruleTable<SessionRule>({
  'session.text.started': works('text', (_, thread, data) => blockStarted('text', thread, data)),
  'session.text.delta': works('nothing', (state, thread, data) => blockDelta(state, 'text', thread, data)),
  'session.text.ended': works('nothing', (state, thread, data) => blockEnded(state, 'text', thread, data)),
  'session.reasoning.started': works('text', (_, thread, data) => blockStarted('thinking', thread, data)),
  'session.reasoning.delta': works('nothing', (state, thread, data) =>
    blockDelta(state, 'thinking', thread, data),
  ),
  'session.reasoning.ended': works('nothing', (state, thread, data) =>
    blockEnded(state, 'thinking', thread, data),
  ),
  'session.tool.input.started': emits('text', inputStarted),
  'session.tool.input.delta': emits('nothing', inputDelta),
  // The call has the parsed input.
  'session.tool.input.ended': emits('text', () => []),
  'session.tool.called': works('text', called),
  'session.tool.progress': emits('everything', progressed),
  'session.tool.success': works('everything', succeeded),
  'session.tool.failed': rule('everything', (state, thread, data) =>
    isBeforeTurn(state, thread) ? held(failed(state, thread, data)) : emitAll(failed(state, thread, data)),
  ),
  'session.step.started': works('everything', stepStarted),
  'session.step.ended': works('everything', stepEnded),
  'session.step.failed': emits('partial', stepFailed),
  // The response of the model is complete; the end of the step follows.
  'session.step.streamed': rule('nothing', () => nothing),
  'session.inbox.enqueued': rule('everything', enqueued),
  'session.inbox.delivered': rule('everything', delivered),
  'session.inbox.delivery.changed': rule('everything', (state, _, data) => deliveryChanged(state, data)),
  'session.inbox.cancelled': rule('everything', (state, _, data) => cancelled(state, data)),
  'session.execution.started': rule('everything', executionStarted),
  'session.execution.succeeded': rule('everything', executionSucceeded),
  'session.execution.failed': rule('partial', executionFailed),
  'session.execution.interrupted': rule('partial', executionInterrupted),
  'session.retry.scheduled': emits('everything', retryScheduled),
  'session.renamed': emits('everything', (state, thread, data) =>
    ofRoot(state, thread, () => updateSession(state, { title: text(data, 'title') })),
  ),
  'session.model.selected': emits('everything', (state, thread, data) =>
    ofRoot(state, thread, () => updateSession(state, { model: modelName(fields(data, 'model')) })),
  ),
  'session.agent.selected': emits('everything', (state, thread, data) =>
    ofRoot(state, thread, () => updateSession(state, { mode: text(data, 'agent') })),
  ),
  'session.compaction.started': silent,
  'session.compaction.delta': silent,
  'session.compaction.ended': emits('everything', (state, thread, data) =>
    ofRoot(state, thread, () => {
      if (state.turn?.compaction) state.turn.compaction.isReported = true
      return [compacted(data)]
    }),
  ),
  'session.compaction.failed': rule('everything', compactionFailed),
  'session.deleted': rule('everything', deleted),
  'session.revert.committed': rule('everything', (_, __, data) => emit(reverted(data))),
  'session.revert.staged': silent,
  'session.revert.cleared': silent,
  // The running total of the session, with model calls for titles; every step reports its own usage.
  'session.usage.updated': silent,
  // What the model is told about its surroundings.
  'session.instructions.updated': silent,
  // A command that a person ran in another client.
  'session.shell.started': silent,
  'session.shell.ended': silent,
  'session.metadata.updated': silent,
  'session.permissions': silent,
  'session.viewed': silent,
})

function ofRoot(state: OpencodeState, thread: Thread, emitted: () => Emitted[]): Emitted[] {
  return thread === state.root ? emitted() : []
}

function compactionFailed({ turn }: OpencodeState, _: Thread, data: Fields): Decoded {
  const failure = failureOf(fields(data, 'error'))
  const { error } = failure
  // The execution of the compaction may succeed nevertheless.
  if (turn?.compaction) turn.compaction.failure = failure
  return emit({
    ...errorNotice(fields(data, 'error')),
    type: 'notice.raised',
    level: 'warning',
    code: 'agent_warning',
    message: `the context could not be compacted: ${error.message}`,
  })
}

function reverted(data: Fields): Emitted {
  const message = 'another client removed messages from the end of the conversation'
  return { type: 'notice.raised', level: 'warning', code: 'agent_warning', message, data: { to: data.to } }
}

/** The next prompt needs a new session. */
function deleted(state: OpencodeState, thread: Thread): Decoded {
  if (thread !== state.root) return nothing
  const message = `the session ${thread.id} was deleted`
  state.opening.failure = {
    name: 'session.deleted',
    evidence: 'error',
    error: { code: 'session_not_found', message },
  }
  const notice: Emitted = { type: 'notice.raised', level: 'warning', code: 'agent_warning', message }
  return emitAll([...endTurn(state, { failure: state.opening.failure }), notice])
}
