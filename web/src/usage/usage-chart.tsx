import { count } from '../text/format.ts'
import type { Measure, Series } from './grouping.ts'

/** Classes, because the content security policy allows no inline styles. */
const FILLS = ['fill-series-1', 'fill-series-2', 'fill-series-3', 'fill-series-4', 'fill-series-5'] as const
const BACKGROUNDS = ['bg-series-1', 'bg-series-2', 'bg-series-3', 'bg-series-4', 'bg-series-5'] as const

/** The largest bar is this high; the rest of the picture is air. */
const TOP = 28
const HEIGHT = 30

interface UsageChartProps {
  days: readonly string[]
  series: readonly Series[]
  measure: Measure
}

export const shownValue = (value: number, measure: Measure): string =>
  measure === 'tokens' ? count(Math.round(value)) : `$${value.toFixed(2)}`

/** Bars of each day, divided by group. The tables below have the same figures. */
export function UsageChart({ days, series, measure }: UsageChartProps) {
  const totals = days.map((_, place) => series.reduce((sum, { values }) => sum + (values[place] ?? 0), 0))
  const most = Math.max(...totals, 0)
  const width = 100 / days.length
  return (
    <figure className="rounded-lg border border-line bg-panel p-3">
      <figcaption className="mb-2 flex flex-wrap items-center gap-x-4 gap-y-1 text-xs text-soft">
        {series.map(({ name }, index) => (
          <span key={name} className="flex min-w-0 items-center gap-1.5">
            <span aria-hidden="true" className={`size-2 shrink-0 rounded-xs ${BACKGROUNDS[index]}`} />
            <span className="truncate">{name}</span>
          </span>
        ))}
        <span className="ml-auto tabular-nums">
          {most === 0 ? `No ${measure} reported` : `most in a day: ${shownValue(most, measure)}`}
        </span>
      </figcaption>
      <svg
        viewBox={`0 0 100 ${HEIGHT}`}
        preserveAspectRatio="none"
        className="h-36 w-full border-b border-line"
        role="img"
        aria-label={`${measure === 'tokens' ? 'Tokens' : 'Cost'} by day`}
      >
        {days.map((day, place) => (
          <Bar
            key={day}
            day={day}
            x={place * width}
            width={width}
            most={most}
            place={place}
            series={series}
            measure={measure}
          />
        ))}
      </svg>
      <div aria-hidden="true" className="mt-1 flex justify-between text-xs text-soft tabular-nums">
        <span>{days[0]}</span>
        <span>{days.at(-1)}</span>
      </div>
    </figure>
  )
}

interface BarProps {
  day: string
  x: number
  width: number
  most: number
  place: number
  series: readonly Series[]
  measure: Measure
}

function Bar({ day, x, width, most, place, series, measure }: BarProps) {
  let top = HEIGHT
  return series.map(({ name, values }, index) => {
    const value = values[place] ?? 0
    if (value === 0) return null
    const height = (TOP * value) / most
    top -= height
    return (
      <rect
        key={name}
        x={x + width * 0.12}
        y={top}
        width={width * 0.76}
        height={height}
        className={FILLS[index]}
      >
        <title>{`${day}, ${name}: ${shownValue(value, measure)}`}</title>
      </rect>
    )
  })
}
