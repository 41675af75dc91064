import * as z from 'zod'

const timestamp = z.iso.datetime()
const tokens = z.int().nonnegative()

const counts = {
  total_tokens: tokens,
  input_tokens: tokens,
  output_tokens: tokens,
  cached: tokens,
  input: tokens,
}

/** The output of `gemini --output-format stream-json`, one object per line. Loose, because new fields are allowed. */
export const Native = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('init'), timestamp, session_id: z.uuid(), model: z.string() }),
  z.looseObject({
    type: z.literal('message'),
    timestamp,
    role: z.enum(['user', 'assistant']),
    content: z.string(),
    delta: z.literal(true).optional(),
  }),
  z.looseObject({
    type: z.literal('tool_use'),
    timestamp,
    tool_name: z.string(),
    tool_id: z.string(),
    parameters: z.record(z.string(), z.unknown()),
  }),
  z.looseObject({
    type: z.literal('tool_result'),
    timestamp,
    tool_id: z.string(),
    status: z.enum(['success', 'error']),
    output: z.string().optional(),
    error: z.looseObject({ type: z.string(), message: z.string() }).optional(),
  }),
  z.looseObject({
    type: z.literal('error'),
    timestamp,
    severity: z.enum(['warning', 'error']),
    message: z.string(),
  }),
  z.looseObject({
    type: z.literal('result'),
    timestamp,
    status: z.enum(['success', 'error']),
    error: z.looseObject({ type: z.string(), message: z.string() }).optional(),
    stats: z.looseObject({
      ...counts,
      duration_ms: z.number().nonnegative(),
      tool_calls: z.int().nonnegative(),
      models: z.record(z.string(), z.looseObject(counts)),
    }),
  }),
])
