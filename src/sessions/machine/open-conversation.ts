import type { SessionState } from '../../stores/store.ts'
import type { SessionDeps } from '../deps.ts'
import { approvalContext, type SessionSetup, startOf } from '../process/setup.ts'
import { answeredBy, plainToolNames } from '../turns/approval.ts'
import { Conversation } from './conversation.ts'
import type { ConversationDeps } from './conversation-deps.ts'
import type { Emit } from './large-values.ts'

/** Creates the conversation of a session, new or restored. */
export function openConversation(
  setup: SessionSetup,
  deps: SessionDeps,
  state: SessionState,
  emit: Emit,
): Conversation {
  return new Conversation({
    agent: setup.agent.id,
    recipe: setup.recipe,
    start: startOf(setup),
    project: setup.project,
    name: setup.name,
    before: { ...earlier(state, setup.resume), ...setup.before },
    digest: deps.digest,
    canonicalName: (setup.agent.tools ?? plainToolNames).canonical,
    answeredBy: (request) => answeredBy(request, approvalContext(setup, deps)),
    now: () => deps.clock.monotonic(),
    emit,
  })
}

function earlier(state: SessionState, resume: string | undefined): NonNullable<ConversationDeps['before']> {
  const {
    turns,
    epoch,
    frames,
    usage: usageSoFar,
    coverage,
    announcedSessionId: announced,
    lastOutcome,
    fork,
    resumedFrom,
    handedOver,
  } = state
  const context = {
    ids: { proven: resume, announced },
    prompted: handedOver?.prompted ?? (epoch > 0 && lastOutcome !== undefined),
    forkOf: fork ? resumedFrom : undefined,
  }
  return { turns, epoch, frames, usageSoFar, coverage, context }
}
