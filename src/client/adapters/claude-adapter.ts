import { claude } from '../../agents/claude/agent.ts'
import type { AgentEvent } from '../../dialects/unified/unified-event.types.ts'
import type { AdaptedSession } from '../protocol-adapter.ts'
import { fieldOf } from '../rest.ts'
import { BoardAdapter } from './board-adapter.ts'
import type { AdapterOptions, Boundaries } from './fold.ts'
import type { NativeConfig } from './native-config.ts'
import { ProgramAdapter } from './program-adapter.ts'

const MODES: NativeConfig['modes'][string] = {
  default: { approvalMode: 'ask' },
  acceptEdits: { approvalMode: 'autoEdit' },
  plan: { approvalMode: 'ask', sandboxMode: 'readOnly' },
  bypassPermissions: { approvalMode: 'autoAll' },
}

const CONFIG: NativeConfig = {
  modes: {
    'permissions.defaultMode': MODES,
    permissionMode: MODES,
    dangerouslySkipPermissions: { true: { approvalMode: 'autoAll' }, false: {} },
  },
  texts: { model: 'model', cwd: 'workingDirectory' },
  lists: {
    'permissions.allow': 'allowedTools',
    'permissions.deny': 'blockedTools',
    allowedTools: 'allowedTools',
    disallowedTools: 'blockedTools',
  },
  maxTurns: ['maxTurns'],
}

/** Lines of a turn. Others, such as those of hooks, may follow its result. */
const WORK: ReadonlySet<unknown> = new Set(['assistant', 'stream_event', 'user', 'result'])

/** Background work that ends during a turn has an `init` and a result of its own, which may come before the turn's. */
function boundaries(): Boundaries {
  let expected = 0
  return {
    ends(line, isFinished) {
      if (isInit(line)) expected++
      if (fieldOf(line, 'type') !== 'result') return false
      expected = Math.max(0, expected - 1)
      return isFinished && expected === 0
    },
    starts: (line) => WORK.has(fieldOf(line, 'type')) || isInit(line),
  }
}

function isInit(line: unknown): boolean {
  return fieldOf(line, 'type') === 'system' && fieldOf(line, 'subtype') === 'init'
}

/**
 * Translates the output of Claude Code with `--output-format stream-json`, or the events of a board server, which the
 * protocol document calls that of Claude Code. The first line decides.
 */
export class ClaudeAdapter extends ProgramAdapter {
  readonly #options: AdapterOptions

  constructor(options: AdapterOptions = {}) {
    super(claude, { config: CONFIG, boundaries }, options)
    this.#options = options
  }

  override async *adaptEvents(
    nativeEvents: AsyncIterable<unknown> | Iterable<unknown>,
    session: AdaptedSession = {},
  ): AsyncGenerator<AgentEvent, void, void> {
    const lines = written(nativeEvents)
    const first = await lines.next()
    async function* all() {
      if (!first.done) yield first.value
      yield* lines
    }
    if (!isBoardEvent(first.value)) return yield* super.adaptEvents(all(), session)
    yield* new BoardAdapter({ ...this.#options, agentType: claude.id }).adaptEvents(all())
  }
}

/** The lines that are not blank. */
async function* written(
  nativeEvents: AsyncIterable<unknown> | Iterable<unknown>,
): AsyncGenerator<unknown, void, void> {
  for await (const native of nativeEvents)
    if (typeof native !== 'string' || native.trim() !== '') yield native
}

/** True for events of a board. Lines of Claude Code have no `payload`. */
function isBoardEvent(native: unknown): boolean {
  const value = typeof native === 'string' ? jsonIn(native) : native
  return typeof fieldOf(value, 'type') === 'string' && typeof fieldOf(value, 'payload') === 'object'
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
