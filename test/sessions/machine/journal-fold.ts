import type { Codec, Emitted } from '../../../src/agents/agent.ts'
import { agents } from '../../../src/agents/index.ts'
import { type FrameStream, jsonFrame } from '../../../src/framing/frame.ts'
import type { Entry, LaunchKind } from '../../../src/model/index.ts'
import { SENT, type Sent } from '../../../src/sessions/machine/sent.ts'
import type { JournalFrame } from '../../../src/stores/store.ts'

/** The state of the agent's process as a fold over the journal, and what each frame was decoded to. */
export class JournalFold {
  readonly #codec: Codec<unknown>
  #state: unknown

  constructor(codec: Codec<unknown>, frames: readonly JournalFrame[] = []) {
    this.#codec = codec
    for (const frame of frames) this.take(frame)
  }

  take({ stream, text }: JournalFrame): readonly Emitted[] {
    if (stream !== SENT) return this.#codec.decode(this.#state, frameOf(stream, text)).emitted
    const sent: Sent = JSON.parse(text)
    if ('start' in sent) this.#state = this.#codec.initial(sent.start)
    else if ('writes' in sent && sent.command) return this.#codec.encode(this.#state, sent.command).emitted
    return []
  }
}

function frameOf(stream: string, text: string) {
  return stream === 'stderr' ? ({ stream, text } as const) : jsonFrame(streamOf(stream), text)
}

const STREAMS: readonly FrameStream[] = ['stdout', 'rpc', 'sse', 'http']

function streamOf(name: string): FrameStream {
  const stream = STREAMS.find((one) => one === name)
  if (!stream) throw new Error(`no stream is called ${name}`)
  return stream
}

/** Events that the session logs as the codec emits them. */
const UNCHANGED: ReadonlySet<Emitted['type']> = new Set([
  'text.delta',
  'text.completed',
  'thinking.delta',
  'thinking.completed',
  'tool.started',
  'tool.completed',
  'request.withdrawn',
  'session.updated',
  'native.unmapped',
])

/**
 * Rebuilds the state at every frame of a journal and goes on with the next one. Returns the frames whose events are
 * others than those of the fold that was never interrupted, or than those of the log.
 */
export function journalProblems(
  codec: Codec<unknown>,
  journal: readonly JournalFrame[],
  entries: readonly Entry[],
): string[] {
  const problems: string[] = []
  const logged = Map.groupBy(entries, ({ native }) => native)
  const whole = new JournalFold(codec)
  for (const [at, frame] of journal.entries()) {
    const emitted = JSON.stringify(whole.take(frame))
    const rebuilt = JSON.stringify(new JournalFold(codec, journal.slice(0, at)).take(frame))
    if (rebuilt !== emitted) problems.push(`frame ${frame.frame}: ${emitted} became ${rebuilt}`)
    const events = (logged.get(frame.frame) ?? []).map(({ event }) => event)
    const expected: Emitted[] = JSON.parse(emitted)
    const unlogged = expected
      .filter(({ type }) => frame.stream !== SENT && UNCHANGED.has(type))
      .find((one) => !events.some((event) => JSON.stringify(event) === JSON.stringify(one)))
    if (unlogged) problems.push(`frame ${frame.frame}: the log has no ${JSON.stringify(unlogged)}`)
  }
  return problems
}

export function codecOf(id: string, launch: LaunchKind): Codec<unknown> {
  const codec = agents.find((agent) => agent.id === id)?.launches[launch]?.codec
  if (!codec) throw new Error(`${id} has no ${launch} launch`)
  return codec
}
