import type { Agent } from '../../../src/agents/agent.ts'
import { agents } from '../../../src/agents/index.ts'
import { agentAt } from '../../../src/sessions/process/recipes.ts'
import type { FakeRun } from '../fake-driver.ts'
import type { Script } from '../machine/scripted-protocols.ts'
import type { AskingAgent } from './asking-agents.ts'

const [known] = agents.filter(({ id }) => id === 'opencode')
if (!known) throw new Error('there is no agent opencode')

/** OpenCode as its version 2 behaves, under an id of its own beside version 1. */
export const opencode2: Agent = { ...agentAt(known, '2.1.3'), id: 'opencode2' }

const ROOT = { sessionID: 'ses_1' }
const emit = (run: FakeRun, type: string, data: object) =>
  run.sayOn('sse', { type, data: { ...ROOT, ...data } })

/** What the server returns for each call. */
const BODIES: Readonly<Record<string, unknown>> = {
  info: { version: '2.1.3' },
  session: { data: { id: 'ses_1' } },
  agent: { data: [{ id: 'build' }] },
  mcp: { data: [] },
}

function script(run: FakeRun): Script {
  const prompts: string[] = []
  const script: Script = {
    prompts: 0,
    interrupts: 0,
    begin(prompt) {
      const inboxID = prompts[prompt - 1]
      emit(run, 'session.inbox.enqueued', { inboxID, item: { type: 'user', payload: { text: 'go' } } })
      emit(run, 'session.execution.started', {})
      emit(run, 'session.inbox.delivered', { inboxID })
      emit(run, 'session.step.started', { assistantMessageID: 'msg_1' })
    },
    say: (_, text) => emit(run, 'session.text.ended', { assistantMessageID: 'msg_1', ordinal: 0, text }),
    finish() {
      emit(run, 'session.step.ended', { assistantMessageID: 'msg_1', finish: 'stop' })
      emit(run, 'session.execution.succeeded', {})
    },
    stopped: () => emit(run, 'session.execution.interrupted', { reason: 'user' }),
  }
  run.onWrite = (write) => {
    if (write.kind !== 'http') return
    const { tag = '', path } = write
    const isPrompt = path.endsWith('/prompt')
    if (isPrompt) {
      const id = String(Object(write.body).id)
      script.prompts = prompts.push(id)
      run.sayOn('http', { tag, status: 200, body: { data: { id } } })
    } else if (tag in BODIES) run.sayOn('http', { tag, status: 200, body: BODIES[tag] })
  }
  return script
}

/** Asks in the words of version 2. */
export const OPENCODE_2: AskingAgent = {
  agent: opencode2.id,
  script,
  permission: {
    ask: (run, id, subject) =>
      emit(run, 'permission.asked', { id: `per_${id}`, action: 'shell', resources: [subject], save: [] }),
    approves: (text) => /"decision":"(?:once|always)"/.test(text),
  },
  others: {
    question: {
      ask: (run, id, title) =>
        run.sayOn('sse', {
          type: 'form.created',
          data: { form: { id: `frm_${id}`, ...ROOT, fields: [{ key: 'colour', type: 'string', title }] } },
        }),
      approves: (text) => text.includes('"answer":{'),
    },
  },
}
