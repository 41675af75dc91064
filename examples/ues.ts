// Asks several agents the same thing at once: node examples/ues.ts [agent …] "prompt"
// A project that has the package installed imports from 'mainstem/ues'.
import {
  type AgentAdapter,
  acp,
  claudeCode,
  codex,
  echo,
  gemini,
  opencode,
  runParallel,
} from '../src/ues/index.ts'

const adapters: Readonly<Record<string, () => AgentAdapter>> = {
  'claude-code': claudeCode,
  codex,
  gemini,
  opencode,
  echo,
}

const words = process.argv.slice(2)
const prompt = words.pop() ?? 'hello'
const asked = (words.length > 0 ? words : ['echo']).map((name) => adapters[name]?.() ?? acp(name))

const stop = new AbortController()
process.once('SIGINT', () => stop.abort())

const tasks = asked.map((adapter) => ({
  adapter,
  prompt,
  options: { permissionTier: 'dry-run' as const, abortSignal: stop.signal },
}))

for await (const event of runParallel(tasks)) {
  switch (event.type) {
    case 'text':
      console.log(`${event.agent}: ${event.payload.content}`)
      break
    case 'tool_use':
      console.log(`${event.agent} uses ${event.payload.toolName}`)
      break
    case 'error':
      console.log(`${event.agent}: ${event.payload.code}: ${event.payload.message}`)
      break
    case 'done':
      console.log(`${event.agent} ended with ${event.payload.status}`)
  }
}
