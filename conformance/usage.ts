import type { Usage } from '../src/index.ts'
import type { RecordedRequest } from '../src/testing/index.ts'
import { must } from './stage.ts'

/** Every count of a usage, none of them absent. */
type Count = Exclude<keyof Usage, 'partial'>
export type Counts = Record<Count, number>

/** US dollars for a million tokens. */
interface Price {
  readonly input: number
  readonly output: number
  readonly cacheRead: number
  readonly cacheWrite: number
}

/** Claude Code has its prices built in; OpenCode reads them from the settings of the offline recipe. */
const PRICES: Readonly<Record<string, Price>> = {
  'claude-opus-4-8': { input: 5, output: 25, cacheRead: 0.5, cacheWrite: 6.25 },
  'claude-opus-5-5': { input: 4, output: 20, cacheRead: 0.2, cacheWrite: 5 },
  model: { input: 1, output: 2, cacheRead: 0.1, cacheWrite: 0 },
}

/** The model that a request asks for: in the path for Gemini, in the body for the other APIs. */
export function modelOf({ path, body }: RecordedRequest): string {
  const inPath = /\/models\/([^/:]+):/.exec(path)?.[1]
  const inBody = typeof body === 'object' && body !== null && 'model' in body ? body.model : undefined
  return inPath ?? String(inBody ?? '')
}

/** Only Anthropic's API separates tokens written to a cache, and it does not count reasoning. */
function reportedUsage(request: RecordedRequest): Counts {
  const { usage } = request
  if (!usage) return { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, reasoning: 0, total: 0, costUsd: 0 }
  const isMessages = request.path.startsWith('/v1/messages')
  const { output, cacheRead } = usage
  const input = isMessages ? usage.input : usage.input + usage.cacheWrite
  const cacheWrite = isMessages ? usage.cacheWrite : 0
  const reasoning = isMessages ? 0 : usage.reasoning
  const price = PRICES[modelOf(request)]
  const costUsd = price
    ? (input * price.input +
        output * price.output +
        cacheRead * price.cacheRead +
        cacheWrite * price.cacheWrite) /
      1e6
    : 0
  return {
    input,
    output,
    cacheRead,
    cacheWrite,
    reasoning,
    total: input + output + cacheRead + cacheWrite,
    costUsd,
  }
}

/** The total that the scripted model reported for these requests. */
export function usageOf(requests: readonly RecordedRequest[]): Counts {
  return requests.map(reportedUsage).reduce(
    (sum, one) => ({
      input: sum.input + one.input,
      output: sum.output + one.output,
      cacheRead: sum.cacheRead + one.cacheRead,
      cacheWrite: sum.cacheWrite + one.cacheWrite,
      reasoning: sum.reasoning + one.reasoning,
      total: sum.total + one.total,
      costUsd: sum.costUsd + one.costUsd,
    }),
    reportedUsage({ method: '', path: '', headers: {}, body: undefined, at: new Date(0) }),
  )
}

/** Counts must be present and equal, except that a count of zero may be absent. */
export function mustEqualUsage(
  what: string,
  actual: Usage | undefined,
  expected: Counts,
  counts: readonly Count[] = ['input', 'output', 'cacheRead', 'cacheWrite', 'reasoning', 'total'],
): void {
  const wrong = counts.filter((count) => Math.abs((actual?.[count] ?? 0) - expected[count]) > 1e-9)
  const wanted = Object.fromEntries(counts.map((count) => [count, expected[count]]))
  must(
    wrong.length === 0,
    `${what} is ${JSON.stringify(actual)} and the model reported ${JSON.stringify(wanted)}`,
  )
}

/** Counts that are present must be equal. */
export function mustNotContradict(what: string, actual: Usage, expected: Counts): void {
  const present = (Object.keys(expected) as Count[]).filter((count) => actual[count] !== undefined)
  mustEqualUsage(what, actual, expected, present)
}
