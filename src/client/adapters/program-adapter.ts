import type { Agent, LaunchRecipe, ProcessLaunch, Start } from '../../agents/agent.ts'
import type { AgentEvent } from '../../dialects/unified/unified-event.types.ts'
import { type Command, MainstemError } from '../../model/index.ts'
import type { AgentRequest, ApprovalMode } from '../config.ts'
import { translateError } from '../errors/agent-error.ts'
import type { AdaptedSession, NativeRequest, ProtocolAdapter, TranslatedConfig } from '../protocol-adapter.ts'
import { type AdapterOptions, type Boundaries, Fold } from './fold.ts'
import { configFrom, type NativeConfig } from './native-config.ts'
import { policyOf } from './policy.ts'

/** The formats of an agent that a `ProgramAdapter` needs besides its codec. */
export interface ProgramFormat {
  config: NativeConfig
  /** The boundaries of one source. */
  boundaries(): Boundaries
  /** Arguments that select an approval mode, for programs whose launch by a server does not need them. */
  approvalArgs?(mode: ApprovalMode): readonly string[]
}

/** Translates for an agent that is a program with a command line and line-based output. */
export class ProgramAdapter implements ProtocolAdapter {
  readonly #agent: Agent
  readonly #format: ProgramFormat
  readonly #options: AdapterOptions

  constructor(agent: Agent, format: ProgramFormat, options: AdapterOptions) {
    this.#agent = agent
    this.#format = format
    this.#options = options
  }

  async *adaptEvents(
    nativeEvents: AsyncIterable<unknown> | Iterable<unknown>,
    _session?: AdaptedSession,
  ): AsyncGenerator<AgentEvent, void, void> {
    const boundaries = this.#format.boundaries()
    const native = { agent: this.#agent.id, recipe: this.#recipe, launch: 'oneshot', boundaries } as const
    const fold = new Fold(native, this.#options, (conversation) =>
      conversation.begin(conversation.accept(), this.#options.prompt),
    )
    for await (const native of nativeEvents) {
      fold.read(native)
      yield* fold.events()
    }
    fold.end()
    yield* fold.events()
  }

  translateRequest(request: AgentRequest): NativeRequest {
    try {
      return this.#requestOf(request)
    } catch (thrown) {
      throw translateError(thrown, this.#agent.id)
    }
  }

  translateConfig(nativeConfig: Readonly<Record<string, unknown>>): TranslatedConfig {
    return { agentType: this.#agent.id, ...configFrom(this.#format.config, nativeConfig) }
  }

  get #recipe(): LaunchRecipe {
    const { oneshot } = this.#agent.launches
    if (!oneshot) throw new MainstemError('unsupported_option', `${this.#agent.id} has no one-shot launch`)
    return oneshot
  }

  #requestOf({ prompt, sessionId, config = {} }: AgentRequest): NativeRequest {
    const cwd = config.workingDirectory ?? this.#options.workingDirectory
    const start: Start = {
      launch: 'oneshot',
      cwd: cwd ?? '',
      policy: policyOf(config),
      options: config.model === undefined ? {} : { model: config.model },
      epoch: 1,
      ...(sessionId !== undefined && { resume: sessionId }),
    }
    const { argv, env } = this.#launchOf(start)
    const { maxSteps, ...free } = start.policy
    // A server counts model calls itself, but without one the agent must support the limit.
    if (maxSteps !== undefined && `${this.#launchOf({ ...start, policy: free }).argv}` === `${argv}`)
      throw new MainstemError('unsupported_option', `${this.#agent.id} cannot limit its model calls`)
    const input = this.#inputOf(start, prompt)
    const approval = config.approvalMode && this.#format.approvalArgs?.(config.approvalMode)
    const whole = approval ? withArgs(argv, approval) : argv
    return { kind: 'process', argv: whole, env, ...(cwd !== undefined && { cwd }), input }
  }

  #launchOf(start: Start): ProcessLaunch {
    const launch = this.#recipe.launch(start)
    if (launch.kind === 'process') return launch
    throw new MainstemError('unsupported_option', `${this.#agent.id} is not run as a program`)
  }

  #inputOf(start: Start, prompt: string): string {
    const { codec } = this.#recipe
    const state = codec.initial(start)
    const commands: Command[] = [{ type: 'open' }, { type: 'prompt', text: prompt }]
    return commands
      .flatMap((command) => codec.encode(state, command).writes)
      .map((write) => (write.kind === 'text' ? write.text : ''))
      .join('')
  }
}

/** Inserts arguments before the `-` that reads the prompt from stdin. */
function withArgs([program, ...args]: ProcessLaunch['argv'], more: readonly string[]): ProcessLaunch['argv'] {
  const at = args.at(-1) === '-' ? args.length - 1 : args.length
  return [program, ...args.slice(0, at), ...more, ...args.slice(at)]
}
