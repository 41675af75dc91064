import type { AgentInfo, SessionFacts, SessionRecord } from 'mainstem/client'
import { client, leftOut, messageOf } from '../app/client.ts'
import { go } from '../app/navigation.ts'
import { waits } from '../inbox/groups.ts'
import {
  copyLink,
  exportSession,
  removeSession,
  toggleArchived,
  togglePinned,
} from '../inbox/session-actions.ts'
import { answerGate } from '../session/answer-gate.ts'
import { successorsOf } from '../session/hand-over.tsx'
import { renaming } from '../session/session-title.tsx'
import { verbCommands } from '../session/verb-commands.ts'
import { showHidden } from '../text/hidden.ts'
import { say } from '../ui/toasts.tsx'
import type { Command } from './command-list.tsx'

/** What can be done with the session on screen. */
export function sessionCommands(
  { record, facts }: { record: SessionRecord; facts: SessionFacts },
  marks: { isPinned: boolean; isArchived: boolean },
  agents: readonly AgentInfo[] | undefined,
): Command[] {
  const { id, status } = record
  const command = (name: string, run: () => void, hint = 'this session'): Command => ({
    id: name,
    name,
    hint,
    run,
  })
  const models = status === 'ended' ? [] : facts.models
  return [
    // A request is answered on its card alone, where all of it is shown.
    ...(waits(record) ? [command('Answer the request', () => showRequest(id))] : []),
    ...(record.queue.some(({ continuation }) => continuation)
      ? [command('Do not continue later', () => attempt(client.interrupt(id)))]
      : []),
    ...(status === 'busy' ? [command('Stop the turn', () => attempt(client.interrupt(id)))] : []),
    ...models.map((model) =>
      command(
        `Switch model to ${showHidden(model.name ?? model.id)}`,
        () => attempt(client.setModel(id, model.id)),
        'model',
      ),
    ),
    ...verbCommands(record, facts).map(({ name, run }) => command(name, run)),
    ...successorsOf(record, agents).map(({ id: agent, name }) =>
      command(`Continue with ${name}`, () => attempt(client.continueWith(id, { agent })), 'agent'),
    ),
    command('Copy link to this session', () => attempt(copyLink(id))),
    command('Export this session', () => void exportSession(id)),
    command(marks.isPinned ? 'Unpin this session' : 'Pin this session', () => togglePinned(id)),
    command(marks.isArchived ? 'Take out of the archive' : 'Archive this session', () => toggleArchived(id)),
    ...(status === 'ended' ? [] : [command('Rename this session', () => rename(id))]),
    ...(status === 'ended' ? [] : [command('End this session', () => attempt(client.end(id)))]),
    command('Delete this session', () => removeSession(record)),
  ]
}

/** After the palette has closed, which returns the focus to where it was. */
function rename(id: string): void {
  setTimeout(() => renaming.set(id))
}

function showRequest(id: string): void {
  go({ screen: 'session', id, tab: 'conversation', seq: undefined })
  // After the palette has closed: until then it covers the cards.
  setTimeout(() => answerGate.selectNext())
}

function attempt(work: Promise<unknown>): void {
  work.catch((thrown: unknown) => leftOut(thrown) || say(messageOf(thrown)))
}
