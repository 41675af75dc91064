import { readFileSync } from 'node:fs'
import { Ajv } from 'ajv'
import formats from 'ajv-formats'

/** What a published schema has against a message; nothing when it is valid. */
export function schema(name: string): (message: unknown) => string | undefined {
  // The printed schemas leave out the `type` that strict mode asks for next to `properties`.
  const ajv = new Ajv({ strict: false, allErrors: true })
  formats.default(ajv)
  const validate = ajv.compile(JSON.parse(readFileSync(`docs/schemas/${name}.json`, 'utf8')))
  return (message) =>
    validate(message) ? undefined : `${ajv.errorsText(validate.errors)}: ${JSON.stringify(message)}`
}
