import type { SessionRecord } from '../../model/index.ts'
import type { EventOf } from './items.ts'

const LIMITS = { retry: 'Retrying a model call', rate: 'Rate limit', quota: 'Quota' } as const

/** `Rate limit, 80% used, resets at 2027-01-15 08:00 UTC`. */
export function limitText(limit: EventOf<'limit.reported'>): string {
  const { kind, attempt, of, message, usedPercent, resetsAt, account } = limit
  const tries = attempt === undefined ? '' : `, attempt ${attempt}${of === undefined ? '' : ` of ${of}`}`
  const share = usedPercent === undefined ? '' : `, ${Math.round(usedPercent)}% used`
  const reset = resetsAt === undefined ? '' : `, resets at ${minuteOf(resetsAt)}`
  const billed = account === undefined ? '' : `, billed to ${account}`
  return [`${LIMITS[kind]}${tries}${share}${reset}${billed}`, message].filter(Boolean).join(': ')
}

/**
 * `quota until 04:10`, in the time zone of the reader; undefined if the session has no limit that is used up, or if it
 * has reset.
 */
export function quotaText({ limit }: Pick<SessionRecord, 'limit'>, now: number): string | undefined {
  if (!limit) return undefined
  if (limit.resetsAt === undefined) return 'quota used up'
  return limit.resetsAt > now ? `quota until ${clockText(limit.resetsAt, now)}` : undefined
}

/** `continues 04:10`, in the time zone of the reader; undefined if the session continues nothing by itself. */
export function continuationText({ queue }: Pick<SessionRecord, 'queue'>, now: number): string | undefined {
  const next = queue.find(({ continuation }) => continuation)?.continuation
  return next && `continues ${clockText(next.at, now)}`
}

const HALF_DAY_MS = 43_200_000

/** `04:10`, with the date if it is far away: `2026-11-19 04:10`. */
export function clockText(ms: number, now: number): string {
  const time = new Date(ms)
  const two = (part: number) => String(part).padStart(2, '0')
  const clock = `${two(time.getHours())}:${two(time.getMinutes())}`
  if (Math.abs(ms - now) < HALF_DAY_MS) return clock
  return `${time.getFullYear()}-${two(time.getMonth() + 1)}-${two(time.getDate())} ${clock}`
}

function minuteOf(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 16).replace('T', ' ')} UTC`
}

export function compactedText({ before, after }: EventOf<'context.compacted'>): string {
  const sizes = [before, after].map((tokens) => tokens?.toLocaleString('en-US'))
  const figures = sizes.includes(undefined) ? '' : ` from ${sizes.join(' to ')} tokens`
  return `The agent compacted its context${figures}`
}

export function hookText({ name, status, output }: EventOf<'hook.completed'>): string {
  return [`Hook ${name} ${status}`, output].filter(Boolean).join(': ')
}

export function unmappedText({ nativeType }: EventOf<'native.unmapped'>): string {
  return `A frame of type ${nativeType} that no rule covers`
}
