import { localServer } from './daemon/connect.ts'
import { blocksOf, toHtml, toMarkdown } from './export-document.ts'
import { printable } from './printable.ts'
import { Printer } from './printer.ts'
import type { ExportFlags } from './records.ts'
import { refOf, sessionOf } from './session-ref.ts'

export async function exportSession(ref: string, flags: ExportFlags): Promise<void> {
  const { client } = await localServer(flags)
  const session = await sessionOf(client, ref)
  const { stdout } = process
  const printer = new Printer(stdout)
  const safe = (text: string) => (stdout.isTTY ? printable(text) : text)
  if (flags.format === 'ndjson') {
    for await (const line of client.export(session.id)) await printer.print(`${safe(line)}\n`)
    return
  }
  const blocks = blocksOf()
  const { head, earliest = 1 } = session
  if (head >= earliest) {
    for await (const entry of client.entries(session.id, { after: earliest - 1 })) {
      blocks.take(entry)
      if (entry.seq >= head) break
    }
  }
  const title = session.title ?? `${session.agent}, ${refOf(session)}`
  const document = { title, blocks: blocks.list }
  await printer.print(safe(flags.format === 'md' ? toMarkdown(document) : toHtml(document)))
}
