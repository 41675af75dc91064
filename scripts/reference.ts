import * as z from 'zod'
import {
  BlobRef,
  Capabilities,
  ERRORS,
  ErrorCode,
  ErrorInfo,
  Event,
  FACES,
  jsonRpcCode,
  Location,
  Outcome,
  Policy,
  Question,
  RequestOption,
  ToolKind,
  Usage,
} from '../src/model/index.ts'
import { SCHEMAS } from './schema-modules.ts'
import { typeText } from './type-text.ts'

const NOTE = 'Generated from the model by `npm run schemas`; edit the model, not this page.'

/** When a turn has each outcome. */
const WHEN: Record<Outcome, string> = {
  completed: 'The agent finished. Tool calls that a person denied do not change that.',
  denied: 'The agent finished, but a tool call was denied, and not by a person.',
  refused: 'The model declined.',
  max_steps: 'The turn reached its limit of model calls.',
  max_budget: 'The turn reached its cost limit.',
  timeout: 'The agent did not start in time, was silent too long, or the turn took too long.',
  interrupted: 'A client, a signal or a server shutdown stopped the turn.',
  failed: 'The turn ended with an error, which has a code.',
  crashed: 'The process exited without a result, even with exit code 0.',
  lost: 'The process that owned the session went away.',
}

const cell = (text: string) => text.replaceAll('|', '\\|').replaceAll(/\s+/g, ' ').trim()
const row = (...cells: readonly string[]) => `| ${cells.map(cell).join(' | ')} |`
const table = (head: readonly string[], rows: readonly (readonly string[])[]) =>
  [row(...head), `|${'---|'.repeat(head.length)}`, ...rows.map((cells) => row(...cells))].join('\n')

const page = (title: string, ...parts: readonly string[]) =>
  `${[`# ${title}`, NOTE, ...parts].join('\n\n')}\n`

/** The doc comments of the schemas, by the type of the event or the name of the part. */
function sentencesOfModel(): Map<string, string> {
  const documented = SCHEMAS.flatMap(({ name, schema, doc }) => {
    const event = Event.options.find((option) => option === schema)
    return doc === undefined ? [] : [[event?.shape.type.value ?? name, doc] as const]
  })
  return new Map(documented)
}

/** Types that several events share, described once below the events. */
const PARTS = {
  BlobRef,
  Capabilities,
  ErrorCode,
  ErrorInfo,
  Location,
  Outcome,
  Policy,
  Question,
  RequestOption,
  ToolKind,
  Usage,
}

/** The JSON Schema of every event and every part, each pointing to parts by their name. */
function eventSchemas(): Record<string, z.core.JSONSchema.BaseSchema> {
  const registry = z.registry<{ id: string }>()
  for (const [id, part] of Object.entries(PARTS)) registry.add(part, { id })
  for (const option of Event.options) registry.add(option, { id: option.shape.type.value })
  return z.toJSONSchema(registry, { uri: (id) => id }).schemas
}

function section(name: string, schema: z.core.JSONSchema.BaseSchema, sentence: string | undefined): string {
  const head = [`## \`${name}\``, ...(sentence ? [sentence] : [])]
  if (!schema.properties) return [...head, `\`${typeText(schema)}\``].join('\n\n')
  const fields = Object.entries(schema.properties)
    .filter(([field]) => field !== 'type')
    .map(([field, of]) => [
      `\`${field}\``,
      `\`${typeText(of)}\``,
      schema.required?.includes(field) ? 'yes' : '',
      (typeof of === 'object' && of.description) || '',
    ])
  if (fields.length === 0) return head.join('\n\n')
  return [...head, table(['field', 'type', 'always', 'meaning'], fields)].join('\n\n')
}

export function eventsPage(): string {
  const sentences = sentencesOfModel()
  const sections = Object.entries(eventSchemas())
    .sort(([a], [b]) => Number(a in PARTS) - Number(b in PARTS))
    .map(([name, schema]) => section(name, schema, sentences.get(name)))
  const intro =
    'All events, followed by the types that several events share. A field that is not marked *always* is absent if its value is unknown; it is never `null` and never a guessed 0. Unknown fields are refused.'
  return page('Events', intro, ...sections)
}

export function errorsPage(): string {
  const rows = ErrorCode.options.map((code) => {
    const { http, exit, advice } = ERRORS[code]
    return [`\`${code}\``, String(http), String(exit), String(jsonRpcCode(code)), advice]
  })
  return page(
    'Errors',
    'The error codes of all interfaces. Over HTTP an error is a problem document (RFC 9457) with `code` and `advice`; in a log it is `{ code, message, native? }`.',
    table(['code', 'HTTP status', 'CLI exit code', 'JSON-RPC code', 'what to do'], rows),
  )
}

export function outcomesPage(): string {
  const rows = Outcome.options.map((outcome) => {
    const { exitCode, ues, daemon, board, unified } = FACES[outcome]
    const exit = exitCode === undefined ? "the child's if not 0, else 1" : String(exitCode)
    return [`\`${outcome}\``, WHEN[outcome], exit, ues, daemon, board, unified]
  })
  return page(
    'Outcomes',
    'How a turn ended. Every turn has exactly one terminal event, `turn.completed`, and Mainstem decides its outcome from the report of the agent, the exit of its process, and its own actions such as an interrupt. Instead of 1, `mainstem run` exits with the code of the [error](errors.md) of a failed turn.',
    table(['outcome', 'when', 'exit code', 'ues', 'daemon', 'board', 'unified'], rows),
  )
}
