import type { AuditSearch } from '../../client/index.ts'
import type { AuditRecord } from '../../model/access.ts'
import { connect } from '../contexts/connect.ts'
import { printableJson } from '../render/printable.ts'
import { Printer } from '../render/printer.ts'
import { Screen } from '../render/screen.ts'
import { screenOn } from '../render/show.ts'
import { renderTable } from '../render/table.ts'
import type { AuditFlags } from './records.ts'

/** Rows of one response. */
const PAGE = 1000
/** Characters of a session's id, which commands accept. */
const SHORT = 8

export async function audit(flags: AuditFlags): Promise<void> {
  const { client } = await connect(flags)
  const { principal, session, action, since, until, limit, json } = flags
  const query: AuditSearch = {
    ...(principal !== undefined && { principal }),
    ...(session !== undefined && { session }),
    ...(action && { action }),
    ...(since !== undefined && { since: Math.round(since) }),
    ...(until !== undefined && { until: Math.round(until) }),
  }
  const rows: AuditRecord[] = []
  for (let after: string | undefined = ''; after !== undefined && rows.length < limit; ) {
    const page = await client.audit({
      ...query,
      limit: Math.min(PAGE, limit - rows.length),
      ...(after !== '' && { after }),
    })
    rows.push(...page.records)
    after = page.next
  }
  const { stdout } = process
  // The oldest first, as a log is read.
  rows.reverse()
  const text = json
    ? rows.map((row) => `${printableJson(row)}\n`).join('')
    : rows.length === 0
      ? 'nothing was found\n'
      : tableOf(new Screen(screenOn(stdout)), rows)
  await new Printer(stdout).print(text)
}

function tableOf(screen: Screen, rows: readonly AuditRecord[]): string {
  return renderTable(screen, {
    headings: ['time', 'principal', 'action', 'session', 'client', 'address', 'details'],
    rows: rows.map(({ at, principal, action, session = '', client, address = '', details = {} }) => [
      `${new Date(at).toISOString().slice(0, 19)}Z`,
      principal,
      action,
      session.slice(0, SHORT),
      client,
      address,
      Object.entries(details)
        .map(([name, value]) => `${name}=${value}`)
        .join(' '),
    ]),
  })
}
