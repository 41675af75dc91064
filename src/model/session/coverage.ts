import * as z from 'zod'
import type * as types from './coverage.types.ts'

const count = z.int().nonnegative()

/** Counts the frames of an agent by verdict. The four verdicts always add up to `frames`. */
export const Coverage = z.strictObject({
  frames: count.describe('All frames.'),
  mapped: count.describe('Frames that became events, or that carry no information by a listed rule.'),
  unmapped: count.describe('Frames without a rule, kept as `native.unmapped`.'),
  malformed: count.describe('Frames that could not be parsed.'),
  oversized: count.describe('Frames over the size limit, kept as blobs.'),
})
export type Coverage = types.Coverage

/** The counts before the first frame. */
export const NO_FRAMES: Coverage = { frames: 0, mapped: 0, unmapped: 0, malformed: 0, oversized: 0 }
