import type { MainstemClient } from '../../client/mainstem-client.ts'
import type { Entry, SessionRecord } from '../../model/index.ts'
import { connect } from '../contexts/connect.ts'
import { changedFile } from '../render/excerpts.ts'
import { printable } from '../render/printable.ts'
import { Printer } from '../render/printer.ts'
import { screenOn, showAs, showToPeople } from '../render/show.ts'
import { newView } from '../render/view.ts'
import { interrupts } from '../terminal/interrupts.ts'
import { continueHint, sessionOf } from '../turn/session-ref.ts'
import { dialectOf } from '../turn/transcript.ts'
import type { LogsFlags } from './logs.ts'

const PAGE = 1_000

export async function logs(ref: string, flags: LogsFlags): Promise<void> {
  const { client, info } = await connect(flags)
  const record = await sessionOf(client, ref)
  const { id, head, earliest = 1 } = record
  const { stdout } = process
  const printer = new Printer(stdout)
  using interrupted = interrupts()
  const signal = AbortSignal.any([interrupted, printer.closed])
  const { since = 0 } = flags
  if (flags.raw) return raw(client, record, since, printer, signal)
  const dialect = await dialectOf(flags)
  const show = dialect ? showAs(dialect) : peopleShown(flags, info.principal, record.cwd)
  if (!flags.follow && head < earliest) return
  try {
    for await (const entry of client.entries(id, { after: earliest - 1, signal })) {
      // Entries that are not printed still update the state of the renderer.
      const text = show(entry)
      if (entry.at >= since) await printer.print(text)
      if (!flags.follow && entry.seq >= head) break
    }
  } catch (thrown) {
    if (!signal.aborted) throw thrown
  }
  if (!dialect && stdout.isTTY && takesPrompts(record)) console.error(continueHint(record))
}

/** It is at rest, and not limited to one turn. */
function takesPrompts({ status, single }: SessionRecord): boolean {
  return status === 'idle' && single !== true
}

function peopleShown(
  { full = false, changes = false }: LogsFlags,
  reader: string,
  cwd: string,
): (entry: Entry) => string {
  const { stdout } = process
  const view = newView({ ...screenOn(stdout), isFull: full || changes, reader, cwd })
  if (!changes) return showToPeople(stdout, view)
  return ({ event }) =>
    event.type === 'file.changed' ? changedFile(view, '', event).join('') + view.screen.gap() : ''
}

/** The frames of both directions, in order. A mark begins those that were sent to the agent. */
async function raw(
  client: MainstemClient,
  { id, earliest = 1, earliestFrame = 1, frames: last }: SessionRecord,
  since: number,
  printer: Printer,
  signal: AbortSignal,
): Promise<void> {
  const { stdout } = process
  const first = since === 0 ? earliestFrame : await firstSince(client, id, earliest - 1, since, signal)
  for (let after = (first ?? Number.POSITIVE_INFINITY) - 1; after < last && !signal.aborted; ) {
    const { frames, next } = await client.frames(id, { after, limit: PAGE }, signal)
    if (frames.length === 0) return
    for (const { stream, text } of frames) {
      // How far the output was read, which the agent did not write.
      if (stream === 'read') continue
      const line = stdout.isTTY ? printable(text) : text
      await printer.print(stream === 'sent' ? `> ${line}\n` : `${line}\n`)
    }
    after = next
  }
}

/** The frame of the first entry since then. Frames have no time. */
async function firstSince(
  client: MainstemClient,
  id: string,
  from: number,
  since: number,
  signal: AbortSignal,
): Promise<number | undefined> {
  for (let after = from; ; ) {
    const { entries = [] } = await client.page(id, { after, limit: PAGE }, signal)
    const found = entries.find(({ at, native }) => at >= since && native !== undefined)?.native
    const newest = entries.at(-1)
    if (found !== undefined || !newest) return found
    after = newest.seq
  }
}
