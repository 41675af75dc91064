import type { EventOf } from './items.ts'

const LIMITS = { retry: 'Retrying a model call', rate: 'Rate limit', quota: 'Quota' } as const

/** `Rate limit, 80% used, resets at 2027-01-15 08:00 UTC`. */
export function limitText(limit: EventOf<'limit.reported'>): string {
  const { kind, attempt, of, message, usedPercent, resetsAt } = limit
  const tries = attempt === undefined ? '' : `, attempt ${attempt}${of === undefined ? '' : ` of ${of}`}`
  const share = usedPercent === undefined ? '' : `, ${Math.round(usedPercent)}% used`
  const reset = resetsAt === undefined ? '' : `, resets at ${minuteOf(resetsAt)}`
  return [`${LIMITS[kind]}${tries}${share}${reset}`, message].filter(Boolean).join(': ')
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
