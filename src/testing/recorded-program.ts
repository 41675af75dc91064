import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { isFields, type JsonFields } from './fields.ts'

// Replaces an agent: replays its output from a recording. In a live recording it waits for input where the recorded agent
// received some, and takes the ids of requests from it.
const [folder = ''] = process.argv.slice(2)
const transcript = join(folder, 'transcript.jsonl')
await (existsSync(transcript) ? playTranscript(transcript) : playOutput(join(folder, 'stdout.jsonl')))
process.exitCode = exitCode(join(folder, 'exit.json'))

/** A one-shot run reads its whole prompt before it writes. */
async function playOutput(path: string): Promise<void> {
  for await (const _ of process.stdin);
  process.stdout.write(readFileSync(path))
}

async function playTranscript(path: string): Promise<void> {
  const heard = createInterface({ input: process.stdin })[Symbol.asyncIterator]()
  const ids = new Map<string, unknown>()
  for (const line of readFileSync(path, 'utf8').trim().split('\n')) {
    const { dir, msg } = fieldsOf(line)
    if (!isFields(msg)) continue
    if (dir !== 'in') {
      process.stdout.write(`${JSON.stringify(renamed(msg, ids))}\n`)
      continue
    }
    const { value, done } = await heard.next()
    if (done) break
    if (isRequest(msg)) ids.set(JSON.stringify(idOf(msg)), idOf(fieldsOf(value)))
  }
  // The rest of the conversation was not recorded, so the process ends with its input.
  for await (const _ of heard);
}

function fieldsOf(line: string): JsonFields {
  const value: unknown = JSON.parse(line)
  return isFields(value) ? value : {}
}

function idOf(message: JsonFields): unknown {
  return message.id ?? message.request_id
}

function isRequest(message: JsonFields): boolean {
  return idOf(message) !== undefined && (message.method !== undefined || message.request !== undefined)
}

/** Replaces the recorded id of a request by the current one. */
function renamed(message: JsonFields, ids: ReadonlyMap<string, unknown>): JsonFields {
  const now = (id: unknown) => ids.get(JSON.stringify(id)) ?? id
  if (message.method === undefined && message.id !== undefined) return { ...message, id: now(message.id) }
  const { response } = message
  if (message.type !== 'control_response' || !isFields(response)) return message
  return { ...message, response: { ...response, request_id: now(response.request_id) } }
}

/** A recording that ended by a signal has no exit code; use 0. */
function exitCode(path: string): number {
  const { code } = existsSync(path) ? fieldsOf(readFileSync(path, 'utf8')) : {}
  return typeof code === 'number' ? code : 0
}
