import { setTimeout as sleep } from 'node:timers/promises'
import { connect } from '../contexts/connect.ts'
import { Printer } from '../render/printer.ts'
import { showToPeople } from '../render/show.ts'
import { interrupts } from '../terminal/interrupts.ts'
import { sessionOf } from '../turn/session-ref.ts'
import type { ReplayFlags } from './records.ts'

/** The longest pause; longer ones are cut to this. */
const LONGEST_PAUSE_MS = 3_000

export async function replay(ref: string, flags: ReplayFlags): Promise<void> {
  const { client } = await connect(flags)
  const { id, head, earliest = 1 } = await sessionOf(client, ref)
  const printer = new Printer(process.stdout)
  const show = showToPeople(process.stdout)
  using interrupted = interrupts()
  const signal = AbortSignal.any([interrupted, printer.closed])
  let before: number | undefined
  try {
    if (head < earliest) return
    for await (const entry of client.entries(id, { after: earliest - 1, signal })) {
      await sleep(pauseMs(before, entry.at, flags.speed), undefined, { signal })
      before = entry.at
      await printer.print(show(entry))
      if (entry.seq >= head) return
    }
  } catch (thrown) {
    if (!signal.aborted) throw thrown
  }
}

/** The pause between two entries, at a speed. */
export function pauseMs(before: number | undefined, at: number, speed: number): number {
  const gap = before === undefined ? 0 : Math.max(0, at - before)
  return Math.min(gap, LONGEST_PAUSE_MS) / speed
}
