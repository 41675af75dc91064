import type { UsageReport, UsageTotals } from 'mainstem/client'
import { useEffect, useMemo, useState } from 'react'
import { client, leftOut, messageOf, signIn } from '../app/client.ts'
import { useStore } from '../app/store.ts'
import { cost, count } from '../text/format.ts'
import { Notice } from '../ui/notice.tsx'
import { Segments } from '../ui/segments.tsx'
import { type Dimension, lastDays, type Measure, seriesOf } from './grouping.ts'
import { UsageChart } from './usage-chart.tsx'
import { UsageTable } from './usage-table.tsx'

const RANGES = { '7': '7 days', '30': '30 days', '90': '90 days' } as const
const MEASURES = { tokens: 'Tokens', cost: 'Cost' } as const
const DIMENSIONS = { agent: 'Agent', model: 'Model', principal: 'Principal' } as const

/** Tokens and cost over time, by agent, by model and by principal. */
export default function UsageScreen() {
  const state = useStore(signIn)
  const all = state.state === 'in' && state.server.roles.includes('operator')
  const [range, setRange] = useState<keyof typeof RANGES>('30')
  const days = useMemo(() => lastDays(Number(range), Date.now()), [range])
  const { report, error } = useReport(days[0] ?? '', all)
  return (
    <div className="h-full overflow-y-auto p-4 sm:p-6">
      <div className="mx-auto max-w-4xl space-y-5">
        <header className="flex flex-wrap items-center gap-3">
          <h1 className="mr-auto text-lg font-semibold">Usage</h1>
          <Segments label="Range" options={RANGES} value={range} onChange={setRange} />
        </header>
        {error !== undefined && <Notice level="error">{error}</Notice>}
        {report && <Report report={report} days={days} all={all} />}
      </div>
    </div>
  )
}

function useReport(
  from: string,
  all: boolean,
): { report: UsageReport | undefined; error: string | undefined } {
  const [report, setReport] = useState<UsageReport>()
  const [error, setError] = useState<string>()
  useEffect(() => {
    client
      .usage({ from, ...(all && { all }) })
      .then(setReport)
      .catch((thrown: unknown) => leftOut(thrown) || setError(messageOf(thrown)))
  }, [from, all])
  return { report, error }
}

interface ReportProps {
  report: UsageReport
  days: readonly string[]
  all: boolean
}

function Report({ report, days, all }: ReportProps) {
  const { total, rows } = report
  const [by, setBy] = useState<Dimension>('agent')
  const [measure, setMeasure] = useState<Measure>('tokens')
  const series = useMemo(() => seriesOf(rows, days, by, measure), [rows, days, by, measure])
  if (total.sessions === 0 && total.turns === 0) {
    return (
      <p className="text-soft">
        No session has used anything in these days. The tokens and the cost of every turn appear here, by day,
        agent and model.
      </p>
    )
  }
  const { principal, ...own } = DIMENSIONS
  return (
    <>
      <dl className="grid grid-cols-2 gap-3 sm:grid-cols-4">
        <Figure name="Cost" value={cost(total.usage) ?? 'not reported'} />
        <Figure name="Tokens" value={count(total.usage.total ?? 0)} />
        <Figure name="Turns" value={count(total.turns)} />
        <Figure name="Sessions" value={count(total.sessions)} />
      </dl>
      <div className="flex flex-wrap gap-3">
        <Segments label="Divide by" options={all ? { ...own, principal } : own} value={by} onChange={setBy} />
        <Segments label="Show" options={MEASURES} value={measure} onChange={setMeasure} />
      </div>
      <UsageChart days={days} series={series} measure={measure} />
      {total.usage.partial && (
        <p className="text-xs text-soft">
          Some agents do not report every model call, so sums marked with ≥ are minimums.
        </p>
      )}
      <UsageTable title="By agent" name="Agent" rows={largestFirst(report.agents)} />
      <UsageTable
        title="By model"
        name="Model"
        sessions={false}
        rows={largestFirst(report.models).filter(
          ([, { turns, usage }]) => turns > 0 || usage.total !== undefined,
        )}
      />
      {all && <UsageTable title="By principal" name="Principal" rows={largestFirst(report.principals)} />}
      <UsageTable title="By day (UTC)" name="Day" rows={Object.entries(report.days).toReversed()} />
    </>
  )
}

function largestFirst(groups: Readonly<Record<string, UsageTotals>>): [string, UsageTotals][] {
  return Object.entries(groups).sort(([, a], [, b]) => (b.usage.total ?? 0) - (a.usage.total ?? 0))
}

function Figure({ name, value }: { name: string; value: string }) {
  return (
    <div className="rounded-lg border border-line bg-panel px-3 py-2">
      <dt className="text-xs text-soft">{name}</dt>
      <dd className="text-lg font-semibold tabular-nums">{value}</dd>
    </div>
  )
}
