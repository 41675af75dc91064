/**
 * The schemas of the faces board and unified: those that their document prints, widened by every agent there is
 * and by the fields we add.
 */
import { readFileSync } from 'node:fs'
import * as z from 'zod'
import { agents } from '../src/agents/index.ts'
import { SessionEvent } from '../src/dialects/board/board-event.ts'
import { AgentEvent } from '../src/dialects/unified/unified-event.ts'
import { EXTENSIONS } from '../src/dialects/unified/unified-extension.ts'

type Properties = Record<string, unknown>

/** A printed schema, as far as it is touched here. */
interface Printed {
  $id?: string
  properties: Properties
  allOf?: { then: { properties: Properties } }[]
}

const ENVELOPE = ['id', 'sessionId', 'timestamp', 'type']

/** Every field of the messages, as their dialect declares it. */
function fieldsOf(messages: readonly z.ZodObject[]): Properties {
  const schemas = messages.map((message) =>
    z.toJSONSchema(message, {
      target: 'draft-7',
      // Readers skip fields they do not know, so that there can be new ones.
      override: ({ jsonSchema }) => {
        if (jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties
      },
    }),
  )
  const fields = schemas.flatMap(({ properties = {} }) => Object.entries(properties))
  return Object.fromEntries(fields.filter(([name]) => !ENVELOPE.includes(name)))
}

function printed(name: string): Printed {
  return JSON.parse(readFileSync(`docs/schemas/${name}.printed.json`, 'utf8'))
}

/** A field has one meaning on these faces, so ours need no rule for each type of message. */
function widened(name: string, fields: Properties): Printed {
  const schema = printed(name)
  const rules = (schema.allOf ?? []).map((clause) => clause.then)
  for (const { properties } of [schema, ...rules]) {
    if (properties.agentType) properties.agentType = { type: 'string', enum: agents.map(({ id }) => id) }
  }
  const ruled = new Set(rules.flatMap(({ properties }) => Object.keys(properties)))
  const ours = Object.entries(fields).filter(([field]) => !ruled.has(field))
  const properties = { ...schema.properties, ...Object.fromEntries(ours) }
  return { ...schema, $id: `${name}.json`, properties }
}

/** With the types that are ours beside those that are printed. */
function withTypes(schema: { properties: Properties }, ours: Iterable<string>): object {
  const { type } = z.object({ type: z.looseObject({ enum: z.array(z.string()) }) }).parse(schema.properties)
  const properties = { ...schema.properties, type: { ...type, enum: [...type.enum, ...ours] } }
  return { ...schema, properties }
}

/** The widened schemas by their names. */
export function dialectSchemas(): Record<string, object> {
  const payload = fieldsOf(SessionEvent.options.map(({ shape }) => shape.payload))
  return {
    'board-event': {
      ...widened('board-event', { payload: { type: 'object', properties: payload } }),
      title: 'SessionEvent',
    },
    'unified-event': withTypes(widened('unified-event', fieldsOf(AgentEvent.options)), EXTENSIONS),
    'unified-request': widened('unified-request', {}),
  }
}
