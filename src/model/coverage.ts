import { z } from 'zod'

const count = z.int().nonnegative()

/** What became of the frames of an agent; the four verdicts always add up to `frames`. */
export const Coverage = z.strictObject({
  frames: count,
  mapped: count,
  unmapped: count,
  malformed: count,
  oversized: count,
})
export type Coverage = z.infer<typeof Coverage>
