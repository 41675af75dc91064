import { MainstemError } from '../model/index.ts'

/**
 * A schema of zod, valibot, arktype or another library that implements Standard Schema and can export itself as JSON
 * Schema.
 */
export interface OutputSchema<T> {
  /** The members that Standard Schema defines. */
  readonly '~standard': {
    readonly version: 1
    readonly vendor: string
    readonly validate: (value: unknown) => Validated<T> | Promise<Validated<T>>
    readonly types?: { readonly input: unknown; readonly output: T } | undefined
    readonly jsonSchema?: {
      readonly input: (options: { readonly target: 'draft-2020-12' }) => Record<string, unknown>
    }
  }
}

type Validated<T> =
  | { readonly value: T; readonly issues?: undefined }
  | { readonly issues: readonly { readonly message: string }[] }

/** The JSON Schema to send to the agent. */
export function jsonSchemaOf(schema: OutputSchema<unknown>): Record<string, unknown> {
  const { jsonSchema, vendor } = schema['~standard']
  if (!jsonSchema) {
    throw new MainstemError(
      'unsupported_option',
      `output: schemas of ${vendor} cannot be converted to JSON Schema`,
    )
  }
  return jsonSchema.input({ target: 'draft-2020-12' })
}

/** Validates the answer of the agent, because agents do not always follow the schema. */
export async function validated<T>(schema: OutputSchema<T>, value: unknown): Promise<T> {
  const checked = await schema['~standard'].validate(value)
  if (!checked.issues) return checked.value
  const message = checked.issues.map((issue) => issue.message).join('; ')
  throw new MainstemError('protocol_error', `the agent's answer does not match the schema: ${message}`)
}
