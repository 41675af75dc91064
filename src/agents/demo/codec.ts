import type { Frame } from '../../framing/frame.ts'
import { type AnswerCommand, decide, type Evidence } from '../../model/index.ts'
import type { Codec, Decoded, Emitted, Exit, Start } from '../agent.ts'
import { emitAll, malformed, nothing, refuse, send, unmapped } from '../kit/decoded.ts'
import { isFields, text } from '../kit/fields.ts'
import { newLedger } from '../kit/ledger.ts'
import { closeRequest, denierOf, withDenialNotice } from '../kit/requests.ts'
import { encoder, unsupportedBy } from '../kit/rules.ts'
import { refuseTool } from '../kit/tools.ts'
import { DemoLine, Stamp } from './native.ts'
import { conclude, type DemoState, decodeLine, play } from './story.ts'

const refused = unsupportedBy('demo')

const StampedLine = DemoLine.and(Stamp)

export const demoCodec: Codec<DemoState> = {
  initial(start: Start): DemoState {
    return {
      epoch: start.epoch,
      run: 0,
      open: false,
      ledger: newLedger(),
      calls: new Map(),
      allowed: new Set(),
      used: {},
    }
  },

  decode(state: DemoState, frame: Frame): Decoded {
    if (frame.value === undefined) return malformed(frame.text)
    const line = StampedLine.safeParse(frame.value)
    if (!line.success) return unmapped(typeOf(frame.value), frame.text)
    // Output that was scheduled before its turn ended belongs to no turn.
    return state.open && line.data.run === state.run ? decodeLine(state, line.data) : nothing
  },

  encode: encoder<DemoState>({
    open: () => nothing,
    prompt: begin,
    answer,
    interrupt: (state) => emitAll(stop(state, 'aborted')),
    // The policy answers its requests from outside; the tools of its script are fixed.
    set_policy: (state, command) =>
      command.mode === undefined && !command.policy?.tools ? nothing : refused(state, command),
    steer: refused,
    set_model: refused,
  }),

  end(state: DemoState, exit: Exit): Decoded {
    const evidence = exit.error ? 'error' : exit.cause === 'exit' ? 'none' : 'aborted'
    return emitAll(stop(state, evidence, exit))
  },
}

/** The first prompt of a session plays the story; a later process of it has already played it. */
function begin(state: DemoState): Decoded {
  const scene = state.epoch === 1 && state.run === 0 ? 'opening' : 'again'
  state.run++
  state.open = true
  state.ledger = newLedger()
  state.calls.clear()
  state.used = {}
  return send([play(state, scene)])
}

function answer(state: DemoState, command: AnswerCommand): Decoded {
  const asked = closeRequest(state.ledger, command.requestId)
  if (!asked) return refuse('request_not_found', `no open request ${command.requestId}`)
  if (asked.type === 'question') {
    const label = command.decision === 'answered' ? command.answers?.[asked.id]?.[0] : undefined
    const chosen = asked.answers.find((option) => option.label === label)
    return withDenialNotice(send([play(state, chosen?.scene ?? asked.otherwise)]), command)
  }
  if (command.decision === 'allow') {
    if (command.scope === 'session' || command.scope === 'always') state.allowed.add(asked.tool)
    return send([play(state, asked.allow)])
  }
  refuseTool(state.ledger, asked.toolId, denierOf(command))
  const step = command.interrupt ? emitAll(stop(state, 'aborted')) : send([play(state, asked.deny)])
  return withDenialNotice(step, command)
}

/** Ends the open turn early. */
function stop(state: DemoState, evidence: Evidence, exit?: Exit): Emitted[] {
  if (!state.open) return []
  const outcome = decide({ evidence, denials: 0, personDenials: 0 }, exit?.cause ?? 'exit', exit?.code)
  const ending = { evidence, ...(exit?.error && { error: exit.error }) }
  return conclude(state, ending, outcome, exit !== undefined)
}

function typeOf(value: unknown): string {
  return (isFields(value) ? text(value, 'type') : undefined) ?? typeof value
}
