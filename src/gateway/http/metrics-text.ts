import type { Latency } from '../../reading/latency.ts'

export type Sample = readonly [labels: string, value: number]

export interface Metric {
  name: string
  kind: 'counter' | 'gauge' | 'histogram'
  help: string
  /** Values by their label text, which follows the ending of a name in a histogram. */
  values: Iterable<Sample>
}

export function latency(name: string, help: string, measured: Latency): Metric {
  const buckets = [...measured.buckets()].map(([bound, count]): Sample => [`_bucket{le="${bound}"}`, count])
  const ends: Sample[] = [
    ['_bucket{le="+Inf"}', measured.count],
    ['_sum', measured.sum],
    ['_count', measured.count],
  ]
  return { name, kind: 'histogram', help, values: [...buckets, ...ends] }
}

export function single(name: string, kind: Metric['kind'], help: string, value: number): Metric {
  return { name, kind, help, values: [['', value]] }
}

export function write({ name, kind, help, values }: Metric): string {
  let text = `# HELP ${name} ${help}\n# TYPE ${name} ${kind}\n`
  for (const [labels, value] of values) text += `${name}${labels} ${numberText(value)}\n`
  return text
}

/** As the format writes it. */
function numberText(value: number): string {
  return Number.isFinite(value) ? String(value) : value > 0 ? '+Inf' : '-Inf'
}
