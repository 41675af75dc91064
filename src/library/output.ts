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

/** A plain JSON Schema. The answer is parsed as JSON and not validated. */
export interface PlainJsonSchema {
  /** A plain schema has no members of Standard Schema. */
  readonly '~standard'?: never
  readonly [keyword: string]: unknown
}

/** The JSON Schema to send to the agent. */
export function jsonSchemaOf(schema: OutputSchema<unknown> | PlainJsonSchema): Record<string, unknown> {
  const isSchema = typeof schema === 'function' || (typeof schema === 'object' && schema !== null)
  if (!isSchema || Array.isArray(schema)) {
    const message = `output: must be a Standard Schema, such as one of zod, or a JSON Schema object`
    throw new MainstemError('invalid_request', message, { field: 'output' })
  }
  if (!isStandard(schema)) return { ...schema }
  const { jsonSchema, vendor } = schema['~standard']
  if (!jsonSchema) {
    throw new MainstemError(
      'unsupported_option',
      `output: schemas of ${vendor} cannot be converted to JSON Schema`,
    )
  }
  return jsonSchema.input({ target: 'draft-2020-12' })
}

function isStandard<T>(schema: OutputSchema<T> | PlainJsonSchema): schema is OutputSchema<T> {
  return schema['~standard'] !== undefined
}

/** The schema that validates answers; a plain JSON Schema does not. */
export function validatorOf<T>(schema: OutputSchema<T> | PlainJsonSchema): OutputSchema<T> {
  if (isStandard(schema)) return schema
  return { '~standard': { version: 1, vendor: 'json-schema', validate: (value) => ({ value: value as T }) } }
}

/** Validates the answer of the agent, because agents do not always follow the schema. */
export async function validated<T>(schema: OutputSchema<T>, value: unknown): Promise<T> {
  const checked = await schema['~standard'].validate(value)
  if (!checked.issues) return checked.value
  const message = checked.issues.map((issue) => issue.message).join('; ')
  throw new MainstemError('protocol_error', `the agent's answer does not match the schema: ${message}`)
}
