/** Writes the generated files: JSON Schemas, types of the schemas, and the tables of the reference. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import * as z from 'zod'
import { Capabilities, Command, Entry, Event, Policy, SessionOptions } from '../src/model/index.ts'
import { agentIdModules } from './agent-ids.ts'
import { dialectSchemas } from './dialect-schemas.ts'
import { libraryReference } from './library-reference.ts'
import { typeModules } from './printed-types.ts'
import { errorsPage, eventsPage, outcomesPage } from './reference.ts'

const published = { event: Event, entry: Entry, command: Command, policy: Policy, capabilities: Capabilities }

function jsonSchemas(): Record<string, string> {
  const registry = z.registry<{ id: string }>()
  for (const [id, schema] of Object.entries(published)) registry.add(schema, { id })
  registry.add(SessionOptions, { id: 'session-options' })
  const { schemas } = z.toJSONSchema(registry, { uri: (id) => `${id}.json` })
  return Object.fromEntries(
    Object.entries({ ...schemas, ...dialectSchemas() }).map(([id, schema]) => [
      `docs/schemas/${id}.json`,
      `${JSON.stringify(schema, null, 2)}\n`,
    ]),
  )
}

/** Every generated file by its path. */
export function generated(): Record<string, string> {
  return {
    ...jsonSchemas(),
    ...typeModules(),
    ...agentIdModules(),
    ...libraryReference(),
    'docs/reference/events.md': eventsPage(),
    'docs/reference/errors.md': errorsPage(),
    'docs/reference/outcomes.md': outcomesPage(),
  }
}

if (import.meta.main) {
  for (const [path, text] of Object.entries(generated())) {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text)
  }
}
