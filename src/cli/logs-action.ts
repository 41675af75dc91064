import type { MainstemClient } from '../client/mainstem-client.ts'
import type { Entry } from '../model/index.ts'
import { localServer } from './daemon/connect.ts'
import { dialectOf } from './dialect-of.ts'
import { interrupts } from './interrupts.ts'
import type { LogsFlags } from './logs.ts'
import { printable } from './printable.ts'
import { Printer } from './printer.ts'
import { sessionOf } from './session-ref.ts'
import { showAs, showToPeople } from './show.ts'

const PAGE = 1_000

export async function logs(ref: string, flags: LogsFlags): Promise<void> {
  const { client } = await localServer(flags)
  const { id, head, earliest = 1 } = await sessionOf(client, ref)
  const { stdout } = process
  const printer = new Printer(stdout)
  using interrupted = interrupts()
  const signal = AbortSignal.any([interrupted, printer.closed])
  const { since = 0 } = flags
  if (flags.raw) return raw(client, id, earliest - 1, since, printer, signal)
  const dialect = await dialectOf(flags)
  const show = dialect ? showAs(dialect, stdout) : showToPeople(stdout)
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
}

/** The frames of the agent, each once and in order. */
async function raw(
  client: MainstemClient,
  id: string,
  from: number,
  since: number,
  printer: Printer,
  signal: AbortSignal,
): Promise<void> {
  const { stdout } = process
  let last: number | undefined
  for (let after = from; !signal.aborted; ) {
    const { entries = [] } = await client.page(id, { after, limit: PAGE, raw: true }, signal)
    const newest = entries.at(-1)
    if (!newest) return
    for (const entry of entries) {
      const frame = frameOf(entry)
      if (entry.raw === undefined || frame === last || entry.at < since) continue
      last = frame
      await printer.print(`${stdout.isTTY ? printable(entry.raw) : entry.raw}\n`)
    }
    after = newest.seq
  }
}

/** Several entries may come from one frame. */
function frameOf({ native, seq }: Entry): number {
  return native ?? -seq
}
