import type { UsageReport, UsageTotals } from 'mainstem/client'
import { useEffect, useState } from 'react'
import { client, leftOut, messageOf } from '../app/client.ts'
import { cost, count } from '../text/format.ts'
import { Notice } from '../ui/notice.tsx'

/** Tokens and cost of this principal over time and by agent. */
export default function UsageScreen() {
  const [report, setReport] = useState<UsageReport>()
  const [error, setError] = useState<string>()
  useEffect(() => {
    client
      .usage()
      .then(setReport)
      .catch((thrown: unknown) => leftOut(thrown) || setError(messageOf(thrown)))
  }, [])
  return (
    <div className="h-full overflow-y-auto p-4 sm:p-6">
      <div className="mx-auto max-w-3xl space-y-6">
        <h1 className="text-lg font-semibold">Usage</h1>
        {error !== undefined && <Notice level="error">{error}</Notice>}
        {report && <Report report={report} />}
      </div>
    </div>
  )
}

function Report({ report: { total, agents, days } }: { report: UsageReport }) {
  if (total.sessions === 0) return <p className="text-soft">No session has used anything yet.</p>
  const byDay = Object.entries(days)
    .sort(([a], [b]) => a.localeCompare(b))
    .slice(-30)
  return (
    <>
      <dl className="grid grid-cols-2 gap-3 sm:grid-cols-4">
        <Figure name="Cost" value={cost(total.usage) ?? 'not reported'} />
        <Figure name="Tokens" value={count(total.usage.total ?? 0)} />
        <Figure name="Turns" value={count(total.turns)} />
        <Figure name="Sessions" value={count(total.sessions)} />
      </dl>
      {total.usage.partial && (
        <p className="text-xs text-soft">
          Some agents do not report every model call, so sums marked with ≥ are minimums.
        </p>
      )}
      <Days days={byDay} />
      <Table title="By agent" name="Agent" rows={Object.entries(agents)} />
      <Table title="By day (UTC)" name="Day" rows={byDay.toReversed()} />
    </>
  )
}

function Figure({ name, value }: { name: string; value: string }) {
  return (
    <div className="rounded-lg border border-line bg-panel px-3 py-2">
      <dt className="text-xs text-soft">{name}</dt>
      <dd className="text-lg font-semibold tabular-nums">{value}</dd>
    </div>
  )
}

/** Tokens of each day as bars; the table below has the same figures. */
function Days({ days }: { days: readonly [string, UsageTotals][] }) {
  const most = Math.max(1, ...days.map(([, { usage }]) => usage.total ?? 0))
  const width = 100 / Math.max(1, days.length)
  return (
    <svg
      viewBox="0 0 100 30"
      preserveAspectRatio="none"
      className="h-28 w-full rounded-lg border border-line bg-panel"
      role="img"
      aria-label="Tokens by day"
    >
      {days.map(([day, { usage }], index) => {
        const height = (28 * (usage.total ?? 0)) / most
        return (
          <rect
            key={day}
            x={index * width + width * 0.15}
            y={30 - height}
            width={Math.min(8, width * 0.7)}
            height={height}
            className="fill-accent"
          >
            <title>{`${day}: ${count(usage.total ?? 0)} tokens`}</title>
          </rect>
        )
      })}
    </svg>
  )
}

interface TableProps {
  title: string
  name: string
  rows: readonly [string, UsageTotals][]
}

function Table({ title, name, rows }: TableProps) {
  return (
    <section>
      <h2 className="mb-1 font-semibold">{title}</h2>
      <div className="overflow-x-auto rounded-lg border border-line bg-panel">
        <table className="w-full text-right text-sm tabular-nums">
          <thead className="text-xs text-soft">
            <tr>
              {[name, 'Sessions', 'Turns', 'Input', 'Cache read', 'Output', 'Total', 'Cost'].map(
                (heading, index) => (
                  <th
                    key={heading}
                    scope="col"
                    className={`px-3 py-1 font-normal ${index === 0 ? 'text-left' : ''}`}
                  >
                    {heading}
                  </th>
                ),
              )}
            </tr>
          </thead>
          <tbody>
            {rows.map(([key, { sessions, turns, usage }]) => (
              <tr key={key} className="border-t border-line">
                <th scope="row" className="px-3 py-1 text-left font-medium">
                  {key}
                </th>
                {[sessions, turns, usage.input, usage.cacheRead, usage.output, usage.total].map(
                  (value, index) => (
                    // biome-ignore lint/suspicious/noArrayIndexKey: the columns are fixed
                    <td key={index} className="px-3 py-1">
                      {value === undefined ? '–' : count(value)}
                    </td>
                  ),
                )}
                <td className="px-3 py-1">{cost(usage) ?? '–'}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  )
}
