import { connect } from '../contexts/connect.ts'
import { printableJson } from '../render/printable.ts'
import { Printer } from '../render/printer.ts'
import { Screen } from '../render/screen.ts'
import { screenOn } from '../render/show.ts'
import { renderTable } from '../render/table.ts'
import type { NodesFlags } from './records.ts'

export async function nodes(flags: NodesFlags): Promise<void> {
  const { client } = await connect(flags)
  const { stdout } = process
  const list = await client.nodes()
  const screen = new Screen(screenOn(stdout))
  const table = () =>
    renderTable(screen, {
      headings: ['node', 'state', 'agents', 'version', 'labels', 'roots', 'url'],
      rows: list.map(({ name, self, state, processes, maxProcesses, version, labels, roots, url }) => [
        self ? `${name} *` : name,
        state,
        `${processes} of ${maxProcesses}`,
        version,
        labels.join(' '),
        roots.join(' '),
        url ?? '',
      ]),
      styleOf: ([, state], column) => {
        if (column !== 1) return undefined
        if (state === 'lost') return screen.colors.red
        return state === 'draining' ? screen.colors.yellow : screen.colors.green
      },
    })
  const alone = 'This server shares its store with no other. Set store.url to run several.\n'
  const text = flags.json ? `${printableJson(list)}\n` : list.length === 0 ? alone : table()
  await new Printer(stdout).print(text)
}
