// Streams what an agent says and does to the console: node examples/stream.ts [agent] ["prompt"]
// A project that has the package installed imports from 'mainstem'.
import { mainstem } from '../src/index.ts'

const [agent = 'demo', prompt = 'Fix the failing test.'] = process.argv.slice(2)

await using stem = mainstem()
await using session = await stem.session({ agent, cwd: process.cwd(), policy: { approval: 'ask-dangerous' } })

const turn = session.prompt(prompt)
for await (const { event } of turn) {
  switch (event.type) {
    case 'text.delta':
      process.stdout.write(event.text)
      break
    case 'text.completed':
      process.stdout.write('\n')
      break
    case 'tool.started':
      console.log(`[${event.kind}] ${event.title ?? event.name}`)
      break
    case 'request.opened':
      // A policy or a hook may answer by itself; for a person, nobody is here.
      if ((event.answeredBy ?? 'person') === 'person') await session.answer(event, { decision: 'deny' })
  }
}

const { outcome, usage } = await turn.result()
console.log(`${outcome}, ${usage?.output ?? '?'} tokens written`)
