import { applyEntry } from '../../client/timeline/apply-entry.ts'
import { newTimeline } from '../../client/timeline/timeline.ts'
import { connect } from '../contexts/connect.ts'
import { printable } from '../render/printable.ts'
import { Printer } from '../render/printer.ts'
import { refOf, sessionOf } from '../turn/session-ref.ts'
import { blocksOf, toHtml, toMarkdown } from './export-document.ts'
import type { ExportFlags } from './records.ts'

export async function exportSession(ref: string, flags: ExportFlags): Promise<void> {
  const { client } = await connect(flags)
  const session = await sessionOf(client, ref)
  const { stdout } = process
  const printer = new Printer(stdout)
  if (flags.format === 'ndjson') {
    // The lines have a checksum, so a file or a program gets them as they are.
    for await (const line of client.export(session.id))
      await printer.print(`${stdout.isTTY ? printable(line) : line}\n`)
    return
  }
  const timeline = newTimeline()
  const { head, earliest = 1 } = session
  if (head >= earliest) {
    for await (const entry of client.entries(session.id, { after: earliest - 1 })) {
      applyEntry(timeline, entry)
      if (entry.seq >= head) break
    }
  }
  const title = session.title ?? `${session.agent}, ${refOf(session)}`
  const document = { title, blocks: blocksOf(timeline.items) }
  await printer.print(printable(flags.format === 'md' ? toMarkdown(document) : toHtml(document)))
}
