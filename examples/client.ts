// Gives an agent on a server a task, and shows what it does: node examples/client.ts [agent] ["prompt"] [url]
// A project that has the package installed imports from 'mainstem/client'.
import { AgentClient, AgentError } from '../src/client/index.ts'

const [agentType = 'echo', prompt = 'Say hello.', baseUrl = 'http://127.0.0.1:7380'] = process.argv.slice(2)
const token = process.env.MAINSTEM_TOKEN

const client = new AgentClient({ agentType, config: { baseUrl, ...(token !== undefined && { token }) } })

try {
  const session = await client.createSession({ prompt, config: { approvalMode: 'askDangerous' } })
  for await (const event of session.events) {
    switch (event.type) {
      case 'textChunk':
        process.stdout.write(event.isComplete ? `${event.content}\n` : event.content)
        break
      case 'toolStarted':
        console.log(`[${event.toolName}]`)
        break
      case 'fileChanged':
        console.log(`${event.changeType} ${event.filePath}`)
        break
      case 'sessionEnded':
        console.log(event.reason)
        break
      default:
      // Whatever else a server says is not for this program.
    }
  }
} catch (thrown) {
  if (!(thrown instanceof AgentError)) throw thrown
  console.error(`${thrown.type}: ${thrown.message}`)
  process.exitCode = 1
}
