import type { UsageTotals } from 'mainstem/client'
import { cost, count } from '../text/format.ts'

const HEADINGS = ['Turns', 'Input', 'Cache read', 'Output', 'Total', 'Cost'] as const

interface UsageTableProps {
  title: string
  /** The heading of the first column. */
  name: string
  rows: readonly (readonly [string, UsageTotals])[]
  /** A session may begin before its model is known, so sessions are not counted by model. */
  sessions?: boolean
}

export function UsageTable({ title, name, rows, sessions = true }: UsageTableProps) {
  const headings = sessions ? ['Sessions', ...HEADINGS] : HEADINGS
  return (
    <section>
      <h2 className="mb-1.5 font-semibold">{title}</h2>
      <div className="overflow-x-auto rounded-lg border border-line bg-panel">
        <table className="w-full text-right text-sm tabular-nums">
          <thead className="text-xs text-soft">
            <tr>
              <th scope="col" className="px-3 py-1.5 text-left font-normal">
                {name}
              </th>
              {headings.map((heading) => (
                <th key={heading} scope="col" className="px-3 py-1.5 font-normal whitespace-nowrap">
                  {heading}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map(([key, totals]) => (
              <tr key={key} className="border-t border-line">
                <th scope="row" className="max-w-52 truncate px-3 py-1.5 text-left font-medium" title={key}>
                  {key}
                </th>
                <Cells totals={totals} sessions={sessions} />
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  )
}

function Cells({ totals, sessions }: { totals: UsageTotals; sessions: boolean }) {
  const { turns, usage } = totals
  const counts = {
    turns,
    input: usage.input,
    cacheRead: usage.cacheRead,
    output: usage.output,
    total: usage.total,
  }
  const values = sessions ? { sessions: totals.sessions, ...counts } : counts
  return (
    <>
      {Object.entries(values).map(([column, value]) => (
        <td key={column} className="px-3 py-1.5">
          {value === undefined ? '–' : count(value)}
        </td>
      ))}
      <td className="px-3 py-1.5 whitespace-nowrap">{cost(usage) ?? '–'}</td>
    </>
  )
}
