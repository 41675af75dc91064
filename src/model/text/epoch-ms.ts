/** Smaller numbers count seconds: as milliseconds they would be times before March 1973. */
const SMALLEST_MS = 100_000_000_000

const DAY_MS = 86_400_000

const ISO = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?(?:Z|([+-])(\d\d):?(\d\d))$/i

/**
 * Converts a time as agents report it to milliseconds since 1970: seconds or milliseconds as a number or text, or
 * ISO 8601. Undefined for anything else. Codecs may not use `Date`.
 */
export function epochMs(time: number | string | undefined): number | undefined {
  if (time === undefined) return undefined
  if (typeof time === 'string' && ISO.test(time)) return isoMs(time)
  const count = typeof time === 'string' && time.trim() !== '' ? Number(time) : time
  if (typeof count !== 'number' || !Number.isFinite(count) || count < 0) return undefined
  return Math.round(count < SMALLEST_MS ? count * 1000 : count)
}

function isoMs(text: string): number {
  const [, year, month, day, hour, minute, second = '0', fraction = '0', sign, offsetHour, offsetMinute] =
    ISO.exec(text) ?? []
  const offset = (Number(offsetHour ?? 0) * 60 + Number(offsetMinute ?? 0)) * (sign === '-' ? -1 : 1)
  const minutes = Number(hour) * 60 + Number(minute) - offset
  const days = daysSince1970(Number(year), Number(month), Number(day))
  return days * DAY_MS + minutes * 60_000 + Number(second) * 1000 + Math.floor(Number(`0.${fraction}`) * 1000)
}

/** Counts years from March, so that a leap day is the last day of its year. */
function daysSince1970(year: number, month: number, day: number): number {
  const marchYear = month <= 2 ? year - 1 : year
  const era = Math.floor(marchYear / 400)
  const yearOfEra = marchYear - era * 400
  const dayOfYear = Math.floor((153 * (month > 2 ? month - 3 : month + 9) + 2) / 5) + day - 1
  const dayOfEra = yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear
  return era * 146_097 + dayOfEra - 719_468
}
