import type { DailyUsage, UsageTotals } from 'mainstem/client'

/** The dimensions to group usage by. */
export type Dimension = 'agent' | 'model' | 'principal'

/** The figure that the height of a bar shows. */
export type Measure = 'tokens' | 'cost'

/** A group with more groups than this shows the smallest together. */
const SERIES = 5
const REST = 'other'

/** Usage of one group on each day; `values` follow the days. */
export interface Series {
  name: string
  values: readonly number[]
}

export const keyOf = (row: DailyUsage, by: Dimension): string => row[by] ?? 'unknown'

export function amountOf({ usage }: Pick<UsageTotals, 'usage'>, measure: Measure): number {
  return (measure === 'tokens' ? usage.total : usage.costUsd) ?? 0
}

/** The last days up to today, in UTC and without a gap. */
export function lastDays(count: number, now: number): string[] {
  return Array.from({ length: count }, (_, index) => dayOf(now - (count - 1 - index) * 86_400_000))
}

function dayOf(at: number): string {
  return new Date(at).toISOString().slice(0, 10)
}

/** The largest groups, each with its values by day, and the sum of the others. */
export function seriesOf(
  rows: readonly DailyUsage[],
  days: readonly string[],
  by: Dimension,
  measure: Measure,
): Series[] {
  const sums = new Map<string, number>()
  for (const row of rows) sums.set(keyOf(row, by), (sums.get(keyOf(row, by)) ?? 0) + amountOf(row, measure))
  const names = [...sums].sort(([, a], [, b]) => b - a).map(([name]) => name)
  const shown = names.length > SERIES ? names.slice(0, SERIES - 1) : names
  const values = new Map(
    [...shown, ...(shown.length < names.length ? [REST] : [])].map((name) => [name, days.map(() => 0)]),
  )
  for (const row of rows) {
    const place = days.indexOf(row.day)
    const found = values.get(shown.includes(keyOf(row, by)) ? keyOf(row, by) : REST)
    if (found && place >= 0) found[place] = (found[place] ?? 0) + amountOf(row, measure)
  }
  return [...values].map(([name, list]) => ({ name, values: list }))
}
