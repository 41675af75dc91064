import type { Write } from '../../../src/agents/agent.ts'
import type { FakeRun } from '../fake-driver.ts'

type Fields = Readonly<Record<string, unknown>>

/** A scripted agent of one live protocol. Prompts are numbered from 1 within a process. */
export interface Script {
  prompts: number
  interrupts: number
  begin(prompt: number): void
  say(prompt: number, text: string): void
  finish(prompt: number, text: string): void
  /** Reports the turn of the prompt as stopped. */
  stopped(prompt: number): void
  /** Acknowledges the last interrupt, where the protocol has an acknowledgement apart from the end of the turn. */
  acknowledge?(): void
}

interface Protocol {
  agent: string
  script(run: FakeRun): Script
}

function parsed(write: Write): Fields {
  return write.kind === 'text' ? JSON.parse(write.text) : {}
}

const claude: Protocol = {
  agent: 'claude',
  script(run) {
    const ids: string[] = []
    let interruptId = ''
    const names = (prompt: number) => ({ user_message_uuids: [ids[prompt - 1]] })
    const script: Script = {
      prompts: 0,
      interrupts: 0,
      begin: (prompt) =>
        run.say(
          { type: 'command_lifecycle', command_uuid: ids[prompt - 1], state: 'started' },
          { type: 'system', subtype: 'init', session_id: 'native-1', ...names(prompt) },
        ),
      say: (prompt, text) =>
        run.say({
          type: 'assistant',
          message: { id: `m${prompt}`, content: [{ type: 'text', text }] },
          ...names(prompt),
        }),
      finish: (prompt, result) =>
        run.say({ type: 'result', subtype: 'success', is_error: false, result, ...names(prompt) }),
      stopped: (prompt) =>
        run.say({
          type: 'result',
          subtype: 'error_during_execution',
          is_error: true,
          terminal_reason: 'aborted_streaming',
          ...names(prompt),
        }),
      acknowledge: () =>
        run.say({ type: 'control_response', response: { subtype: 'success', request_id: interruptId } }),
    }
    run.onWrite = (write) => {
      const { type, uuid, request, request_id } = parsed(write)
      // As Claude Code does with an id that it has seen.
      if (type === 'user' && !ids.includes(String(uuid))) script.prompts = ids.push(String(uuid))
      if (JSON.stringify(request ?? '').includes('"interrupt"')) {
        interruptId = String(request_id)
        script.interrupts++
      }
    }
    return script
  },
}

/** The same without a single id, as older versions print it. */
const claudeWithoutIds: Protocol = {
  agent: 'claude',
  script(run) {
    const script = claude.script(run)
    const result = (more: Fields) => run.say({ type: 'result', ...more })
    return Object.assign(script, {
      begin: () => run.say({ type: 'system', subtype: 'init', session_id: 'native-1' }),
      say: (prompt: number, text: string) =>
        run.say({ type: 'assistant', message: { id: `m${prompt}`, content: [{ type: 'text', text }] } }),
      finish: (_: number, text: string) => result({ subtype: 'success', is_error: false, result: text }),
      stopped: () =>
        result({
          subtype: 'error_during_execution',
          is_error: true,
          terminal_reason: 'aborted_streaming',
        }),
    })
  },
}

const codex: Protocol = {
  agent: 'codex',
  script(run) {
    let interruptId: unknown
    const notify = (method: string, prompt: number, params: Fields) =>
      run.say({ method, params: { threadId: 'thread-1', turnId: `turn-${prompt}`, ...params } })
    const end = (prompt: number, status: string) =>
      notify('turn/completed', prompt, { turn: { id: `turn-${prompt}`, status } })
    const script: Script = {
      prompts: 0,
      interrupts: 0,
      begin: (prompt) => notify('turn/started', prompt, { turn: { id: `turn-${prompt}` } }),
      say: (prompt, text) =>
        notify('item/completed', prompt, { item: { type: 'agentMessage', id: `m${prompt}`, text } }),
      finish: (prompt) => end(prompt, 'completed'),
      stopped: (prompt) => end(prompt, 'interrupted'),
      acknowledge: () => run.say({ id: interruptId, result: {} }),
    }
    run.onWrite = (write) => {
      const { id, method } = parsed(write)
      if (method === 'initialize') run.say({ id, result: {} })
      if (method === 'thread/start' || method === 'thread/resume')
        run.say({ id, result: { thread: { id: 'thread-1' }, model: 'm' } })
      if (method === 'turn/start') {
        script.prompts++
        run.say({ id, result: { turn: { id: `turn-${script.prompts}` } } })
      }
      if (method === 'turn/interrupt') {
        interruptId = id
        script.interrupts++
      }
    }
    return script
  },
}

const acp: Protocol = {
  agent: 'gemini',
  script(run) {
    const ids: unknown[] = []
    const answer = (id: unknown, result: Fields) => run.say({ jsonrpc: '2.0', id, result })
    const update = (fields: Fields) =>
      run.say({ jsonrpc: '2.0', method: 'session/update', params: { sessionId: 's1', update: fields } })
    const script: Script = {
      prompts: 0,
      interrupts: 0,
      begin: () => undefined,
      say: (_, text) => update({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } }),
      finish: (prompt) => answer(ids[prompt - 1], { stopReason: 'end_turn' }),
      stopped: (prompt) => answer(ids[prompt - 1], { stopReason: 'cancelled' }),
    }
    run.onWrite = (write) => {
      const { id, method } = parsed(write)
      if (method === 'session/prompt') script.prompts = ids.push(id)
      else if (method === 'session/cancel') script.interrupts++
      else if (method === 'initialize')
        answer(id, { protocolVersion: 1, agentCapabilities: { loadSession: true } })
      else if (method !== undefined && id !== undefined) answer(id, { sessionId: 's1' })
      // A prompt in a loaded session waits until its list of commands has come.
      if (method === 'session/load')
        update({ sessionUpdate: 'available_commands_update', availableCommands: [] })
    }
    return script
  },
}

const pi: Protocol = {
  agent: 'pi',
  script(run) {
    let abortId: unknown
    const message = (role: string, text: string, stopReason = 'stop') => ({
      role,
      content: [{ type: 'text', text }],
      stopReason,
    })
    const end = (aborted: boolean) =>
      run.say({ type: 'agent_end', messages: [], willRetry: false }, { type: 'agent_settled', aborted })
    const script: Script = {
      prompts: 0,
      interrupts: 0,
      begin: () =>
        run.say({ type: 'agent_start' }, { type: 'message_start', message: message('user', 'prompt') }),
      say: (_, text) =>
        run.say(
          { type: 'message_start', message: message('assistant', '') },
          { type: 'message_end', message: message('assistant', text) },
        ),
      finish: () => end(false),
      stopped: () => end(true),
      acknowledge: () => run.say({ type: 'response', id: abortId, command: 'abort', success: true }),
    }
    run.onWrite = (write) => {
      const { id, type } = parsed(write)
      const data = type === 'get_state' ? { sessionId: 'native-1' } : { disposition: 'started' }
      if (type === 'prompt') script.prompts++
      if (type === 'abort') {
        abortId = id
        script.interrupts++
      } else if (id !== undefined) run.say({ type: 'response', id, command: type, success: true, data })
    }
    return script
  },
}

const opencode: Protocol = {
  agent: 'opencode',
  script(run) {
    const sse = (type: string, properties: Fields) =>
      run.sayOn('sse', { type, properties: { sessionID: 'ses_1', ...properties } })
    const http = (tag: string | undefined, body: unknown) => run.sayOn('http', { tag, status: 200, body })
    const answerOf = (prompt: number, more: Fields = {}) =>
      sse('message.updated', {
        info: { id: `a${prompt}`, role: 'assistant', parentID: `u${prompt}`, time: {}, ...more },
      })
    const script: Script = {
      prompts: 0,
      interrupts: 0,
      begin(prompt) {
        sse('message.updated', { info: { id: `u${prompt}`, role: 'user', time: {} } })
        sse('session.status', { status: { type: 'busy' } })
        answerOf(prompt)
      },
      say: (prompt, text) =>
        sse('message.part.updated', {
          part: { id: `p${prompt}`, messageID: `a${prompt}`, sessionID: 'ses_1', type: 'text', text },
        }),
      finish(prompt) {
        const part = { id: `s${prompt}`, messageID: `a${prompt}`, type: 'step-finish', reason: 'stop' }
        sse('message.part.updated', { part })
        answerOf(prompt, { time: { completed: 1 } })
        sse('session.idle', {})
      },
      stopped(prompt) {
        const error = { name: 'MessageAbortedError', data: { message: 'aborted' } }
        sse('session.error', { error })
        answerOf(prompt, { time: { completed: 1 }, error })
        sse('session.idle', {})
      },
      acknowledge: () => http('abort', true),
    }
    run.onWrite = (write) => {
      if (write.kind !== 'http') return
      if (write.tag === 'session') http('session', { id: 'ses_1' })
      if (write.path.endsWith('/prompt_async')) {
        script.prompts++
        http(write.tag, {})
      }
      if (write.path.endsWith('/abort')) script.interrupts++
    }
    return script
  },
}

/** Every live protocol, and Claude's as older versions speak it. */
export const PROTOCOLS = Object.entries({ claude, claudeWithoutIds, codex, acp, pi, opencode })
