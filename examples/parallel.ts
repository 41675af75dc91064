// Gives several agents the same task, and shows which is done first: node examples/parallel.ts [agent …]
// A project that has the package installed imports from 'mainstem'.
import { mainstem } from '../src/index.ts'

const names = process.argv.slice(2)
const agents = names.length > 0 ? names : ['echo', 'echo', 'echo']

await using stem = mainstem()

async function ask(agent: string, place: number): Promise<string> {
  await using session = await stem.session({ agent, cwd: process.cwd(), policy: { sandbox: 'read-only' } })
  const { outcome, text, durationMs } = await session.prompt('What does this project do?').result()
  console.error(`${place + 1} ${agent}: ${outcome} after ${durationMs} ms`)
  return `${place + 1} ${agent}: ${text}`
}

// One agent that cannot be used must not take the others with it.
for (const settled of await Promise.allSettled(agents.map(ask))) {
  console.log(settled.status === 'fulfilled' ? settled.value : String(settled.reason))
}
