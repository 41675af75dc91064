import { board } from '../../agents/board/agent.ts'
import type { AgentEvent } from '../../dialects/unified/unified-event.types.ts'
import { MainstemError } from '../../model/index.ts'
import { type AgentRequest, AgentType } from '../config.ts'
import { translateError } from '../errors/agent-error.ts'
import type { AdaptedSession, NativeRequest, ProtocolAdapter, TranslatedConfig } from '../protocol-adapter.ts'
import { fieldOf } from '../rest.ts'
import { type AdapterOptions, type Boundaries, Fold, frameOf } from './fold.ts'
import { configFrom, type NativeConfig } from './native-config.ts'

const SESSIONS = { method: 'POST', path: '/api/sessions' }

const CONFIG: NativeConfig = {
  modes: {},
  texts: { agentId: 'agentType', projectId: 'projectId' },
  lists: {},
  maxTurns: [],
}

const ENDS: ReadonlySet<unknown> = new Set(['error', 'cancelled'])

/** A session that continues after its end sends further events. */
const BOUNDARIES: Boundaries = {
  ends: (line) => ENDS.has(fieldOf(line, 'type')),
  starts: (line) => !ENDS.has(fieldOf(line, 'type')),
}

/** Options of a `BoardAdapter`. */
export interface BoardAdapterOptions extends AdapterOptions {
  /** The agent that the board runs; Claude by default. */
  agentType?: AgentType
}

/** Translates the protocol of a board server: `plan`, `log`, `action`, `toolResult` and `diff` events of any agent. */
export class BoardAdapter implements ProtocolAdapter {
  readonly #options: BoardAdapterOptions

  constructor(options: BoardAdapterOptions = {}) {
    this.#options = options
  }

  /** Translates the messages of one session. If they end without `error` or `cancelled`, the session is done. */
  async *adaptEvents(
    nativeEvents: AsyncIterable<unknown> | Iterable<unknown>,
    { agentType }: AdaptedSession = {},
  ): AsyncGenerator<AgentEvent, void, void> {
    const { live } = board.launches
    if (!live) throw new MainstemError('unsupported_option', 'a board has only a live launch')
    const { prompt = '', agentType: given = agentType ?? AgentType.claude } = this.#options
    const native = { agent: given, recipe: live, launch: 'live', boundaries: BOUNDARIES } as const
    const fold = new Fold(native, this.#options, (conversation) => {
      conversation.sent(frameOf('http', { ...SESSIONS, body: { prompt } }))
      conversation.begin(conversation.accept(), prompt)
    })
    for await (const line of nativeEvents) {
      fold.read(line)
      yield* fold.events()
    }
    fold.end(frameOf('http', { tag: 'state', status: 200, body: { state: 'done' } }))
    yield* fold.events()
  }

  translateRequest({ agentType, prompt, sessionId, config = {} }: AgentRequest): NativeRequest {
    const { projectId, ...wishes } = config
    const wish = Object.entries({ sessionId, ...wishes }).find(([, value]) => value !== undefined)
    if (wish) {
      const refusal = new MainstemError('unsupported_option', `a board does not support ${wish[0]}`)
      throw translateError(refusal, agentType)
    }
    const body = { agentId: agentType, ...(projectId !== undefined && { projectId }), prompt }
    return { kind: 'http', ...SESSIONS, body }
  }

  translateConfig(nativeConfig: Readonly<Record<string, unknown>>): TranslatedConfig {
    return configFrom(CONFIG, nativeConfig)
  }
}
