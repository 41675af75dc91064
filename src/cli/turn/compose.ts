import type { MainstemClient } from '../../client/mainstem-client.ts'
import { adviceFor, toMainstemError } from '../../model/outcome/error-table.ts'
import { Composer } from '../terminal/composer/composer.ts'
import type { Keyboard } from '../terminal/keyboard.ts'
import { runSlashCommand, slashCompletions } from './slash-commands.ts'
import type { Transcript } from './transcript.ts'

export interface ComposePlace {
  client: MainstemClient
  session: string
  transcript: Transcript
  keyboard: Keyboard
  interrupt(): void
  detach(): void
  /** A prompt became a turn. */
  queued(turn: number): void
  /** The draft was sent or removed: nothing is left to wait for, if no turn runs. */
  emptied(): void
  openPage: (() => Promise<void>) | undefined
}

/** A composer below a transcript. Without a terminal that can draw, a prompt is printed when it was sent. */
export function compose(place: ComposePlace): Composer {
  const { client, session, transcript, keyboard, interrupt, detach, queued, emptied, openPage } = place
  const facts = () => transcript.status.timeline.facts
  const note = (text: string) => transcript.note(text)
  const slash = {
    client,
    session,
    facts,
    note,
    interrupt,
    detach,
    openPage: openPage && (() => transcript.aside(openPage)),
  }
  const echo = (text: string) => (transcript.canDraw ? Promise.resolve() : note(`> ${text}`))
  const composer = new Composer(keyboard, {
    async queue(text) {
      await echo(text)
      queued(await client.prompt(session, text))
    },
    async steer(text) {
      await echo(text)
      await client.steer(session, text)
      // Not every agent reports that it took the text.
      await note('sent to the turn that runs')
    },
    command: (text) => runSlashCommand(slash, text),
    interrupt,
    leave: detach,
    completions: (text) => slashCompletions(text, facts()),
    failed(thrown) {
      const error = toMainstemError(thrown)
      void note(`mainstem: ${error.message} (${error.code})\n${adviceFor(error)}`)
    },
    changed() {
      transcript.redraw()
      if (!composer.isBusy) emptied()
    },
  })
  transcript.compose(composer, (draft) => hintFor(draft, transcript))
  return composer
}

/** What the keys do with this draft. */
function hintFor(draft: string, { status }: Transcript): string {
  const { facts, running } = status.timeline
  if (draft.startsWith('/') && !draft.includes('\n')) return slashCompletions(draft, facts).join(' · ')
  const steering = facts.capabilities?.steer === 'none' ? [] : ['Ctrl-S steers']
  if (!running) return 'Enter sends · Ctrl-C leaves'
  if (draft === '') return ['Type: Enter queues', ...steering, 'Esc interrupts', '/help'].join(' · ')
  return ''
}
