import type { Message } from '../../../src/dialects/dialect.ts'
import type { AgentEvent } from '../../../src/dialects/unified/unified-event.ts'

/** What is out of order in a stream of the unified protocol, whatever the log was. */
export function disorder(messages: readonly AgentEvent[]): string[] {
  const found: string[] = []
  const turns = new Set<number>()
  const tools = new Set<string>()
  let open = false
  messages.forEach((message, index) => {
    const complain = (what: string) => found.push(`${message.id} ${message.type}: ${what}`)
    const before = messages[index - 1]
    if (before?.type === 'toolFailed' && message.type !== 'toolCompleted') complain('follows toolFailed')
    if ((message.type === 'sessionStarted') === open)
      complain(open ? 'inside a session' : 'outside a session')
    switch (message.type) {
      case 'sessionStarted':
        open = true
        break
      case 'sessionEnded':
        if (turns.size > (message.outcome === 'interrupted' ? 1 : 0)) complain('a turn has no end')
        turns.clear()
        open = false
        break
      case 'turnStarted':
        turns.add(message.turnNumber)
        break
      case 'turnCompleted':
        if (!turns.delete(message.turnNumber)) complain('a turn that did not start')
        break
      case 'turnFailed':
        if (!turns.delete(message.turnNumber) && message.outcome !== 'interrupted') complain('did not start')
        break
      case 'toolStarted':
        if (tools.has(message.toolId)) complain('starts twice')
        tools.add(message.toolId)
        break
      case 'toolProgress':
        if (!tools.has(message.toolId)) complain('did not start')
        break
      case 'toolCompleted': {
        if (!tools.delete(message.toolId)) complain('did not start')
        const failed = before?.type === 'toolFailed' && before.toolId === message.toolId
        const expected = !message.success && message.status !== 'unknown'
        if (failed !== expected) complain('toolFailed and success do not agree')
        break
      }
    }
  })
  return found
}

/** What a reader who prints every chunk has in the end. */
export function printedText(messages: readonly Message[]): string {
  return messages.map(({ type, content }) => (type === 'textChunk' ? content : '')).join('')
}
