import { mainstem } from '../../src/index.ts'
import type { AgentEvent } from '../../src/ues/index.ts'

/** Code of a consumer. The test asks the compiler for the type in front of each marker, as an editor does on hover. */
export async function consume(events: AsyncIterable<AgentEvent>): Promise<unknown[]> {
  await using agents = mainstem()
  const session = await agents.session({ agent: 'echo', cwd: '.' })
  const turn = session.prompt('hello')
  const seen: unknown[] = []
  for await (const { event } of turn) {
    if (event.type === 'tool.started') seen.push(event /*?*/)
    else if (event.type === 'turn.completed') seen.push(event /*?*/)
    else seen.push(event.type)
  }
  for await (const event of events) {
    if (event.type === 'init') seen.push(event /*?*/)
    else if (event.type === 'done') seen.push(event.payload /*?*/)
  }
  return seen
}
