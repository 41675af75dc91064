import * as z from 'zod'

/** The error body that both OpenAI APIs send. */
export const OpenaiProblem = z.strictObject({
  error: z.strictObject({
    message: z.string(),
    type: z.string().endsWith('_error'),
    param: z.null(),
    code: z.string().nullable(),
  }),
})
