import { globSync, readFileSync } from 'node:fs'
import { z } from 'zod'
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
import { typeText } from './type-text.ts'

const NOTE = 'Generated from the model by `npm run schemas`; edit the model, not this page.'

/** When a turn ends this way; the model holds the codes, this is how people read them. */
const WHEN: Record<Outcome, string> = {
  completed: 'The agent finished, and nothing it needed was refused without a person saying so.',
  denied: 'The agent finished, but something it needed was refused, and no person had said no.',
  refused: 'The model declined.',
  max_steps: 'The limit of model calls in a turn was reached.',
  max_budget: 'The limit of cost was reached.',
  timeout: 'The agent took too long to start, was silent too long, or the turn took too long.',
  interrupted: 'A person, a signal or a stopping server ended it.',
  failed: 'It ended with an error, which has a code.',
  crashed: 'The process ended without a result. Exit code 0 does not change that.',
  lost: 'The process that owned the session went away.',
}

const cell = (text: string) => text.replaceAll('|', '\\|').replaceAll(/\s+/g, ' ').trim()
const row = (...cells: readonly string[]) => `| ${cells.map(cell).join(' | ')} |`
const table = (head: readonly string[], rows: readonly (readonly string[])[]) =>
  [row(...head), `|${'---|'.repeat(head.length)}`, ...rows.map((cells) => row(...cells))].join('\n')

const page = (title: string, ...parts: readonly string[]) =>
  `${[`# ${title}`, NOTE, ...parts].join('\n\n')}\n`

const DOCUMENTED =
  /\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\nexport const (\w+) = z\.\w+\((?:\{\s*type: z\.literal\('([^']+)'\))?/g

/** The sentence above each schema in the source, by the type of the event or the name of the part. */
function sentencesOfModel(): Map<string, string> {
  const found = new Map<string, string>()
  for (const path of globSync('src/model/**/*.ts').sort()) {
    for (const [, comment = '', name = '', type] of readFileSync(path, 'utf8').matchAll(DOCUMENTED)) {
      found.set(type ?? name, cell(comment.replaceAll(/^\s*\*/gm, '')))
    }
  }
  return found
}

/** What several events carry; named in their tables and described once, below them. */
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
    'Every event of a log, and after them the parts that several events carry. A field that is not marked *always* is absent when unknown: never `null`, never a guessed 0. Unknown fields are refused.'
  return page('Events', intro, ...sections)
}

export function errorsPage(): string {
  const rows = ErrorCode.options.map((code) => {
    const { http, exit, advice } = ERRORS[code]
    return [`\`${code}\``, String(http), String(exit), String(jsonRpcCode(code)), advice]
  })
  return page(
    'Errors',
    'One list of codes for every face. Over HTTP an error is a problem document (RFC 9457) with `code` and `advice`; in a log it is `{ code, message, native? }`.',
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
    'How a turn ended. Every turn has exactly one terminal event, `turn.completed`, and its outcome is decided from what the agent said, how its process ended, and our own part in it.',
    table(['outcome', 'when', 'exit code', 'ues', 'daemon', 'board', 'unified'], rows),
  )
}
