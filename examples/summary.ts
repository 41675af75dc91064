// Reads entries as JSON lines and says what happened, whether they come from a recording or from a run:
// npx mainstem decode --agent claude recording.jsonl | node examples/summary.ts
// npx mainstem run claude "what is this?" --json | node examples/summary.ts
// A project that has the package installed imports from 'mainstem/model'.
import { text } from 'node:stream/consumers'
import { Entry } from '../src/model/index.ts'

const tools = new Map<string, number>()

// At newlines alone: readline would also cut at U+2028, which JSON may contain.
const lines = (await text(process.stdin)).split('\n').filter((line) => line !== '')

for (const line of lines) {
  const { turn, event } = Entry.parse(JSON.parse(line))
  if (event.type === 'tool.completed') {
    const what = `${event.name} ${event.status}`
    tools.set(what, (tools.get(what) ?? 0) + 1)
  }
  if (event.type === 'turn.completed') {
    const used = [...tools].map(([what, times]) => `${what} × ${times}`).join(', ')
    console.log(`turn ${turn}: ${event.outcome}, ${used || 'no tools'}`)
    if (event.error) console.log(`  ${event.error.code}: ${event.error.message}`)
    tools.clear()
  }
}
