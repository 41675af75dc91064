import { createHash } from 'node:crypto'
import { decodable } from '../agents/index.ts'
import { type Frame, type FrameStream, jsonFrame } from '../framing/frame.ts'
import { FrameScanner } from '../framing/frame-scanner.ts'
import { type LinePiece, LineSplitter } from '../framing/lines.ts'
import { blobReference } from '../model/blob.ts'
import { type Coverage, type Entry, type LaunchKind, MainstemError } from '../model/index.ts'
import { FRAME_BYTES, type LargeValue } from '../model/text/large-value.ts'
import { type Recorded, type Replayed, replay } from '../sessions/machine/replay.ts'

/** Recordings have no session; a fixed id keeps the output reproducible. */
const RECORDED_SESSION = '00000000-0000-4000-8000-000000000000'

export interface DecodeRequest {
  agent: string
  launch?: LaunchKind | undefined
  /** The bytes of the recording, in chunks of any size. */
  stdout: Iterable<Uint8Array>
  stderr?: Iterable<Uint8Array> | undefined
  exit?: RecordedExit | undefined
}

export interface RecordedExit {
  code?: number | null | undefined
  signal?: string | null | undefined
  durationMs?: number | undefined
}

/** Decodes recorded native lines, or a transcript of both directions, into entries. */
export function decodeRecording(request: DecodeRequest): Replayed {
  const agent = decodable.find((one) => one.id === request.agent)
  if (!agent) {
    const known = decodable.map((one) => one.id).join(', ')
    throw new MainstemError('agent_not_found', `unknown agent "${request.agent}"; known agents: ${known}`)
  }
  const lines = framesOf(request.stdout, 'stdout')
  const transcript = isTranscript(lines)
  const launch = request.launch ?? (transcript || !agent.launches.oneshot ? 'live' : 'oneshot')
  const recipe = agent.launches[launch]
  if (!recipe) throw new MainstemError('unsupported_option', `${agent.id} has no ${launch} launch`)
  const stream = recipe.stream ?? 'stdout'
  const frames = transcript
    ? lines.map((frame) => transcriptFrame(frame, stream))
    : lines.map(outward(stream))
  const stderr = request.stderr ? framesOf(request.stderr, 'stderr').map(outward('stderr')) : []
  const { code, signal, durationMs } = request.exit ?? { code: 0 }
  return replay({
    session: RECORDED_SESSION,
    agent: agent.id,
    recipe,
    launch,
    cwd: '/',
    frames: [...frames, ...stderr],
    exit: { ...(typeof code === 'number' && { code }), ...(typeof signal === 'string' && { signal }) },
    durationMs,
    digest: (text) => createHash('sha256').update(text).digest('hex'),
  })
}

function framesOf(chunks: Iterable<Uint8Array>, stream: FrameStream): Frame[] {
  const splitter = new LineSplitter()
  const frames: Frame[] = []
  let large: Uint8Array[] = []
  const take = (piece: LinePiece) => {
    if (typeof piece === 'string') {
      frames.push(stream === 'stderr' ? { stream, text: piece } : jsonFrame(stream, piece))
      return
    }
    large.push(piece.oversized.slice())
    if (!piece.last) return
    frames.push(largeFrame(stream, Buffer.concat(large), `line-${frames.length + 1}`))
    large = []
  }
  for (const chunk of chunks) splitter.push(chunk).forEach(take)
  splitter.end().forEach(take)
  return frames
}

/** A recording is in memory already, so its large values are only counted. */
function largeFrame(stream: FrameStream, bytes: Uint8Array, id: string): Frame {
  const whole: Frame = { stream, text: '', blob: { id, bytes: bytes.length } }
  if (stream === 'stderr') return whole
  const scanner = new FrameScanner(() => new CountedValue(), FRAME_BYTES)
  scanner.write(bytes)
  const skeleton = scanner.end()
  if (!skeleton) return whole
  const large = skeleton.targets.map((target, at) => target.value(`${id}.${at + 1}`))
  const container: LargeValue = new CountedValue(bytes).value(id)
  const filled = skeleton.fill(
    large.map(({ text }) => text),
    container.text,
  )
  const frame = jsonFrame(stream, filled)
  return frame.value === undefined
    ? whole
    : { ...frame, large: skeleton.lacksStructure ? [...large, container] : large }
}

/** Counts and digests a large value. */
class CountedValue {
  readonly #hash = createHash('sha256')
  #bytes = 0

  constructor(bytes: Uint8Array = new Uint8Array()) {
    this.write(bytes)
  }

  write(chunk: Uint8Array): void {
    this.#hash.update(chunk)
    this.#bytes += chunk.length
  }

  discard(): void {
    this.#bytes = 0
  }

  value(id: string): LargeValue {
    const blob = { id, bytes: this.#bytes }
    return { blob, text: blobReference(blob), digest: this.#hash.digest('hex') }
  }
}

/** Moves a frame to the stream that carries the protocol of this launch. */
function onStream(frame: Frame, stream: FrameStream): Frame {
  return { ...frame, stream }
}

function outward(stream: FrameStream): (frame: Frame) => Recorded {
  return (frame) => ({ direction: 'out', frame: onStream(frame, stream) })
}

/** Each line of a transcript has a direction. */
function isTranscript(frames: readonly Frame[]): boolean {
  const first = frames.find((frame) => frame.value !== undefined)?.value
  return typeof first === 'object' && first !== null && 'dir' in first && 'msg' in first
}

function transcriptFrame(line: Frame, stream: FrameStream): Recorded {
  const { value } = line
  if (typeof value !== 'object' || value === null || !('msg' in value)) {
    return { direction: 'out', frame: onStream(line, stream) }
  }
  const { msg } = value
  const at = 't' in value && Number.isSafeInteger(value.t) ? Number(value.t) : undefined
  const direction = 'dir' in value && value.dir === 'in' ? 'in' : 'out'
  const frame: Frame =
    typeof msg === 'string' ? jsonFrame(stream, msg) : { stream, text: JSON.stringify(msg), value: msg }
  return { direction, frame: line.large ? { ...frame, large: line.large } : frame, at }
}

export interface DecodeStats extends Coverage {
  unaccounted: number
  events: number
  turns: number
  outcomes: string[]
  text: string
}

/** Summarises a decoded recording in one object. */
export function statsOf({ entries, coverage }: Replayed): DecodeStats {
  const { frames, mapped, unmapped, malformed, oversized } = coverage
  const ended = entries.flatMap(({ event }) => (event.type === 'turn.completed' ? [event] : []))
  return {
    frames,
    mapped,
    unmapped,
    malformed,
    oversized,
    unaccounted: frames - mapped - unmapped - malformed - oversized,
    events: entries.length,
    turns: ended.length,
    outcomes: ended.map((event) => event.outcome),
    text: ended.flatMap((event) => event.result ?? lastText(entries, event.turn) ?? []).join('\n'),
  }
}

/** The last text is the answer of agents that do not repeat it at the end. */
function lastText(entries: readonly Entry[], turn: number): string | undefined {
  const last = entries.findLast(
    ({ event, turn: of }) => of === turn && event.type === 'text.completed' && event.parent === undefined,
  )
  return last?.event.type === 'text.completed' ? last.event.text : undefined
}
