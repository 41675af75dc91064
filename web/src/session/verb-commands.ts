import type { SessionFacts, SessionRecord } from 'mainstem/client'
import { client, leftOut, messageOf } from '../app/client.ts'
import { go } from '../app/navigation.ts'
import { say } from '../ui/toasts.tsx'
import { drafts } from './compose/drafts.ts'

/** Turns before which the files can be restored, the newest first. */
const REWINDS = 5

interface VerbCommand {
  name: string
  run(): void
}

/** The commands of the agent's own terminal that this session accepts. */
export function verbCommands({ id, status, turns }: SessionRecord, facts: SessionFacts): VerbCommand[] {
  if (status === 'ended') return []
  const { verbs = [] } = facts.capabilities ?? {}
  const last = Array.from({ length: Math.min(REWINDS, turns) }, (_, index) => turns - index)
  const commands: Record<(typeof verbs)[number], () => VerbCommand[]> = {
    fork: () => [{ name: 'Continue in a copy of this session', run: () => attempt(fork(id)) }],
    compact: () => [{ name: 'Compact the conversation', run: () => attempt(client.compact(id)) }],
    review: () => [{ name: 'Review the uncommitted changes', run: () => attempt(client.review(id)) }],
    goal: () => [{ name: 'Work on a goal until it is reached', run: () => beginGoal(id) }],
    rewind: () =>
      last.map((turn) => ({
        name: `Restore the files as before turn ${turn}`,
        run: () => attempt(client.rewind(id, turn)),
      })),
  }
  return verbs.flatMap((verb) => commands[verb]())
}

async function fork(id: string): Promise<void> {
  const copy = await client.fork(id)
  go({ screen: 'session', id: copy.id, tab: 'conversation', seq: undefined })
}

/** The goal is written in the field, as a prompt that begins with `/goal`. */
function beginGoal(id: string): void {
  const { text } = drafts.of(id)
  drafts.change(id, { text: text.startsWith('/goal ') ? text : `/goal ${text}` })
  go({ screen: 'session', id, tab: 'conversation', seq: undefined })
  // After the palette has closed, which returns the focus to where it was.
  setTimeout(() => document.getElementById('prompt')?.focus())
}

function attempt(work: Promise<unknown>): void {
  work.catch((thrown: unknown) => leftOut(thrown) || say(messageOf(thrown)))
}
