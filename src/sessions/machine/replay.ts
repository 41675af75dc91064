import type { Exit, LaunchRecipe } from '../../agents/agent.ts'
import type { Frame } from '../../framing/frame.ts'
import { type Coverage, DEFAULT_POLICY, type Entry, type LaunchKind } from '../../model/index.ts'
import { stamp } from '../log/stamp.ts'
import { Conversation } from './conversation.ts'

/** One frame of a recording: what the agent wrote, or what was written to it. */
export interface Recorded {
  direction: 'out' | 'in'
  frame: Frame
  /** Milliseconds since the recording began. */
  at?: number | undefined
}

export interface Recording {
  session: string
  agent: string
  recipe: LaunchRecipe
  launch: LaunchKind
  cwd: string
  frames: Iterable<Recorded>
  exit: Omit<Exit, 'cause'>
  /** The duration of the recording, if known. */
  durationMs?: number | undefined
  digest(text: string): string
}

export interface Replayed {
  entries: Entry[]
  coverage: Coverage
}

/** Runs a recording through the same fold that a running session uses. */
export function replay(recording: Recording): Replayed {
  const { session, agent, recipe, launch, cwd, digest } = recording
  const entries: Entry[] = []
  let now = 0
  const conversation = new Conversation({
    agent,
    recipe,
    start: { launch, cwd, policy: DEFAULT_POLICY, options: {} },
    digest,
    now: () => now,
    emit(event, turn, native, blobs) {
      entries.push(stamp(entries.length + 1, session, turn, Math.round(now), event, native, blobs))
    },
  })
  conversation.open()
  conversation.launch()
  // A one-shot process is one turn from its first byte to its exit.
  if (launch === 'oneshot') conversation.begin(conversation.accept())
  for (const { direction, frame, at } of recording.frames) {
    if (at !== undefined) now = Math.max(now, at)
    if (direction === 'out') conversation.frame(frame)
    else applySent(conversation, frame)
  }
  if (recording.durationMs !== undefined) now = Math.max(now, recording.durationMs)
  conversation.exit(recording.exit)
  return { entries, coverage: conversation.coverage }
}

/** Applies a recorded frame that was sent to the agent, as a session would have logged it. */
export function applySent(conversation: Conversation, frame: Frame): void {
  const command = conversation.sent(frame)
  if (command?.type === 'prompt') {
    conversation.begin(conversation.accept(), command.text, command.promptId)
  } else if (command?.type === 'answer') {
    conversation.resolved(command)
  } else if (command?.type === 'interrupt') {
    conversation.setCause('interrupt')
  }
}
