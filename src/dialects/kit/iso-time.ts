const DAY_MS = 86_400_000

/** Days in 400 years, after which the calendar repeats. */
const ERA_DAYS = 146_097

const two = (part: number) => String(part).padStart(2, '0')

/**
 * Formats milliseconds since 1970 as ISO 8601 in UTC. Counts years from March, so that a leap day is the last day of
 * its year. Implemented here because projections may not use `Date`.
 */
export function isoTime(ms: number): string {
  const days = Math.floor(ms / DAY_MS) + 719_468
  const era = Math.floor(days / ERA_DAYS)
  const dayOfEra = days - era * ERA_DAYS
  const yearOfEra = Math.floor(
    (dayOfEra -
      Math.floor(dayOfEra / 1460) +
      Math.floor(dayOfEra / 36_524) -
      Math.floor(dayOfEra / 146_096)) /
      365,
  )
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100))
  const fromMarch = Math.floor((5 * dayOfYear + 2) / 153)
  const day = dayOfYear - Math.floor((153 * fromMarch + 2) / 5) + 1
  const month = fromMarch < 10 ? fromMarch + 3 : fromMarch - 9
  const year = yearOfEra + 400 * era + (month <= 2 ? 1 : 0)
  return `${String(year).padStart(4, '0')}-${two(month)}-${two(day)}T${timeOfDay(ms % DAY_MS)}Z`
}

function timeOfDay(ms: number): string {
  const seconds = Math.floor(ms / 1000)
  const clock = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60]
  return `${clock.map(two).join(':')}.${String(ms % 1000).padStart(3, '0')}`
}
