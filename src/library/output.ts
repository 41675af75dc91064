import { MainstemError } from '../model/index.ts'

/**
 * What we need of a schema: the Standard Schema interface that zod, valibot, arktype and others share, with the
 * part of it that gives a JSON Schema.
 */
export interface OutputSchema<T> {
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

/** The JSON Schema that is told to the agent. */
export function jsonSchemaOf(schema: OutputSchema<unknown>): Record<string, unknown> {
  const { jsonSchema, vendor } = schema['~standard']
  if (!jsonSchema) {
    throw new MainstemError(
      'unsupported_option',
      `output: schemas of ${vendor} cannot be turned into JSON Schema`,
    )
  }
  return jsonSchema.input({ target: 'draft-2020-12' })
}

/** What the agent gave, as the schema sees it; agents promise to follow a schema and sometimes do not. */
export async function validated<T>(schema: OutputSchema<T>, value: unknown): Promise<T> {
  const checked = await schema['~standard'].validate(value)
  if (!checked.issues) return checked.value
  const message = checked.issues.map((issue) => issue.message).join('; ')
  throw new MainstemError('protocol_error', `the agent's answer does not fit the schema: ${message}`)
}
