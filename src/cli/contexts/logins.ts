import { printableJson } from '../render/printable.ts'
import { Printer } from '../render/printer.ts'
import { Screen } from '../render/screen.ts'
import { screenOn } from '../render/show.ts'
import { renderTable } from '../render/table.ts'
import { connect, type ServerFlags } from './connect.ts'

export interface LoginsFlags extends ServerFlags {
  remove?: string
  json?: boolean
}

/** `mainstem logins`: the machines that are logged in as this principal. */
export async function logins(flags: LoginsFlags): Promise<void> {
  const { client } = await connect(flags)
  if (flags.remove !== undefined) {
    await client.removeLogin(flags.remove)
    console.log(`removed ${flags.remove}`)
    return
  }
  const { stdout } = process
  const list = await client.logins()
  const table = () =>
    renderTable(new Screen(screenOn(stdout)), {
      headings: ['id', 'machine', 'principal', 'since'],
      rows: list.map(({ id, name, principal, createdAt, current }) => [
        id,
        current ? `${name} *` : name,
        principal,
        new Date(createdAt).toISOString().slice(0, 10),
      ]),
    })
  const none = 'nobody is logged in with `mainstem login`\n'
  await new Printer(stdout).print(
    flags.json ? `${printableJson(list)}\n` : list.length === 0 ? none : table(),
  )
}
