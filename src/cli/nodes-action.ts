import { localServer } from './daemon/connect.ts'
import { jsonOn } from './printable.ts'
import { Printer } from './printer.ts'
import type { NodesFlags } from './records.ts'
import { renderTable } from './render-table.ts'
import { Screen } from './screen.ts'
import { screenOn } from './show.ts'

export async function nodes(flags: NodesFlags): Promise<void> {
  const { client } = await localServer(flags)
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
  const text = flags.json ? `${jsonOn(stdout, list)}\n` : list.length === 0 ? alone : table()
  await new Printer(stdout).print(text)
}
