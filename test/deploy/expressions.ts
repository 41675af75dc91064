/** The samples of a scrape: values by name and labels. */
export type Scrape = ReadonlyMap<string, number>

/** Reads the Prometheus text format. */
export function scrapeOf(text: string): Scrape {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  return new Map(
    lines.map((line) => {
      const [, name = '', text = ''] = /^(\S+(?:\{[^}]*\})?) (\S+)$/.exec(line) ?? []
      const value = text === '+Inf' ? Number.POSITIVE_INFINITY : Number(text || Number.NaN)
      if (Number.isNaN(value)) throw new Error(`not a sample: ${line}`)
      return [name, value]
    }),
  )
}

/** The samples of a metric with these labels. A metric that does not exist is a mistake, not a condition that is false. */
function samples(selector: string, scrape: Scrape): [string, number][] {
  const [, name = '', labels = ''] = /^(\w+)(?:\{(.*)\})?$/.exec(selector.trim()) ?? []
  const found = [...scrape].filter(
    ([key]) =>
      (key === name || key.startsWith(`${name}{`)) && labels.split(',').every((one) => key.includes(one)),
  )
  if (name === '' || found.length === 0) throw new Error(`no metric ${selector}`)
  return found
}

function increase(selector: string, before: Scrape, now: Scrape): [string, number][] {
  return samples(selector, now).map(([key, value]) => [key, value - (before.get(key) ?? 0)])
}

/** The values of an expression: the part of PromQL that our alerts and panels use. `before` is the start of each range. */
export function evaluate(expression: string, before: Scrape, now: Scrape): number[] {
  const [, quantile, buckets] = /^histogram_quantile\(([\d.]+), rate\((.+)\[\w+\]\)\)$/.exec(expression) ?? []
  if (quantile !== undefined && buckets !== undefined)
    return [quantileOf(Number(quantile), increase(buckets, before, now))]
  const [, grown] = /^increase\((.+)\[\w+\]\)$/.exec(expression) ?? []
  if (grown !== undefined) return increase(grown, before, now).map(([, value]) => value)
  const [dividend = '', divisor] = expression.split(' / ')
  const values = samples(dividend, now).map(([, value]) => value)
  if (divisor === undefined) return values
  const [[, by] = ['', Number.NaN]] = samples(divisor, now)
  return values.map((value) => value / by)
}

function quantileOf(quantile: number, buckets: readonly [string, number][]): number {
  const bounds = buckets.map(([key, count]) => {
    const le = /le="([^"]+)"/.exec(key)?.[1] ?? ''
    return { bound: le === '+Inf' ? Number.POSITIVE_INFINITY : Number(le), count }
  })
  const sorted = bounds.toSorted((a, b) => a.bound - b.bound)
  const total = sorted.at(-1)?.count ?? 0
  return total === 0
    ? Number.NaN
    : (sorted.find(({ count }) => count >= quantile * total)?.bound ?? Number.NaN)
}

/** Whether an alert fires: one value fulfils its comparison. */
export function fires(alert: string, before: Scrape, now: Scrape): boolean {
  const [, expression = '', operator, limit] = /^(.+) (==|<|>) ([\d.]+)$/.exec(alert) ?? []
  const bound = Number(limit)
  return evaluate(expression, before, now).some((value) =>
    operator === '==' ? value === bound : operator === '<' ? value < bound : value > bound,
  )
}
