import type { Agent, Write } from '../../../src/agents/agent.ts'
import { agents } from '../../../src/agents/index.ts'
import { GATE_TITLE } from '../../../src/agents/pi/gate.ts'
import type { FakeRun } from '../fake-driver.ts'
import { asks } from '../house.ts'
import { PROTOCOLS, type Script } from '../machine/scripted-protocols.ts'
import { OPENCODE_2, opencode2 } from './asking-opencode2.ts'

/** A request that a scripted agent can make. */
interface Form {
  ask(run: FakeRun, id: number, subject: string): void
  /** Whether this write, which answers the request, lets the agent go ahead. */
  approves(text: string): boolean
}

/** A scripted agent that asks, in each form that its encoder answers. */
export interface AskingAgent {
  agent: string
  script(run: FakeRun): Script
  permission: Form
  others: Readonly<Record<string, Form>>
}

/** What was written to an agent, as text. */
export function textOf(write: Write): string {
  if (write.kind === 'http') return `${write.path} ${JSON.stringify(write.body)}`
  return write.kind === 'text' ? write.text : ''
}

const rpc = (method: string, params: object) => (run: FakeRun, id: number, subject: string) =>
  run.say({
    jsonrpc: '2.0',
    id,
    method,
    params: JSON.parse(JSON.stringify(params).replaceAll('SUBJECT', subject)),
  })
const codexAsks = (method: string, params: object) =>
  rpc(method, { threadId: 'thread-1', turnId: 'turn-1', ...params })

const SCHEMA = { type: 'object', properties: { colour: { type: 'string', description: 'SUBJECT' } } }

const FORMS: Readonly<Record<string, Omit<AskingAgent, 'agent' | 'script'>>> = {
  claude: {
    permission: {
      ask: (run, id, subject) => run.say(asks(String(id), 'Bash', subject)),
      approves: (text) => text.includes('"behavior":"allow"'),
    },
    others: {
      plan: {
        ask: (run, id, subject) => run.say(asks(String(id), 'ExitPlanMode', subject)),
        approves: (text) => text.includes('"behavior":"allow"'),
      },
      question: {
        ask: (run, id, subject) => run.say(asks(String(id), 'AskUserQuestion', subject)),
        approves: (text) => text.includes('"behavior":"allow"'),
      },
    },
  },
  codex: {
    permission: {
      ask: codexAsks('item/commandExecution/requestApproval', { itemId: 'call', command: 'SUBJECT' }),
      approves: (text) => text.includes('"decision":"accept'),
    },
    others: {
      elicitation: {
        ask: codexAsks('mcpServer/elicitation/request', { serverName: 'demo', message: 'SUBJECT' }),
        approves: (text) => text.includes('"action":"accept"'),
      },
      form: {
        ask: codexAsks('mcpServer/elicitation/request', { serverName: 'demo', requestedSchema: SCHEMA }),
        approves: (text) => text.includes('"action":"accept"'),
      },
      question: {
        ask: codexAsks('item/tool/requestUserInput', {
          questions: [{ id: 'colour', question: 'SUBJECT', isOther: true }],
        }),
        approves: (text) => text.includes('"colour"'),
      },
    },
  },
  acp: {
    permission: {
      ask: rpc('session/request_permission', {
        sessionId: 's1',
        toolCall: { toolCallId: 'call SUBJECT', title: 'SUBJECT', kind: 'execute' },
        options: [
          { optionId: 'yes', name: 'Yes', kind: 'allow_once' },
          { optionId: 'no', name: 'No', kind: 'reject_once' },
        ],
      }),
      approves: (text) => text.includes('"optionId":"yes"'),
    },
    others: {
      form: {
        ask: rpc('elicitation/create', { sessionId: 's1', mode: 'form', requestedSchema: SCHEMA }),
        approves: (text) => text.includes('"action":"accept"'),
      },
    },
  },
  pi: {
    permission: {
      ask: (run, id, command) => {
        const placeholder = JSON.stringify({ toolName: 'bash', toolCallId: 'call', input: { command } })
        run.say({
          type: 'extension_ui_request',
          id: String(id),
          method: 'input',
          title: GATE_TITLE,
          placeholder,
        })
      },
      approves: (text) => text.includes('\\"allow\\":true'),
    },
    others: {
      confirm: {
        ask: (run, id, title) =>
          run.say({ type: 'extension_ui_request', id: String(id), method: 'confirm', title }),
        approves: (text) => text.includes('"confirmed":true'),
      },
      input: {
        ask: (run, id, title) =>
          run.say({ type: 'extension_ui_request', id: String(id), method: 'input', title }),
        approves: (text) => text.includes('"value"'),
      },
    },
  },
  opencode: {
    permission: {
      ask: (run, id, subject) =>
        opencodeAsks(run, 'permission', id, { permission: 'bash', patterns: [subject] }),
      approves: (text) => /"reply":"(once|always)"/.test(text),
    },
    others: {
      question: {
        ask: (run, id, question) =>
          opencodeAsks(run, 'question', id, { questions: [{ question, header: 'x', options: [] }] }),
        approves: (text) => text.includes('"answers"'),
      },
    },
  },
}

function opencodeAsks(run: FakeRun, kind: string, id: number, asked: object): void {
  const properties = { id: `${kind}_${id}`, sessionID: 'ses_1', ...asked }
  run.sayOn('sse', { type: `${kind}.asked`, properties })
}

/** The demo plays the scene that the decision selects. */
const DEMO: AskingAgent = {
  agent: 'demo',
  script(run) {
    const nothing = () => undefined
    const finish = () => run.say({ run: 1, type: 'end', result: 'done' })
    const script: Script = {
      ...{ prompts: 0, interrupts: 0 },
      ...{ begin: nothing, say: nothing, finish, stopped: nothing },
    }
    run.onWrite = () => script.prompts++
    return script
  },
  permission: {
    ask(run, id, command) {
      const call = `call-${id}`
      run.say({ run: 1, type: 'call', id: call, name: 'Bash', kind: 'execute', input: { command } })
      run.say({ run: 1, type: 'ask', id: String(id), call, title: command, allow: 'yes', deny: 'no' })
    },
    approves: (text) => text.includes('"scene":"yes"'),
  },
  others: {
    question: {
      ask(run, id, text) {
        const answers = [{ label: 'Red', description: '', scene: 'yes' }]
        run.say({ run: 1, type: 'question', id: String(id), header: 'x', text, answers, otherwise: 'no' })
      },
      approves: (text) => text.includes('"scene":"yes"'),
    },
  },
}

/** Every agent that asks. Those of the Agent Client Protocol share one encoder. */
export const ASKING: readonly AskingAgent[] = [
  ...PROTOCOLS.flatMap(([name, protocol]) => {
    const forms = FORMS[name]
    return forms ? [{ ...protocol, ...forms }] : []
  }),
  DEMO,
  OPENCODE_2,
]

/** The agents that `ASKING` names. */
export const ASKING_AGENTS: readonly Agent[] = [...agents, opencode2]
