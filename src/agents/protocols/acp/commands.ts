import { type Command, toMainstemError } from '../../../model/index.ts'
import type { Decoded } from '../../agent.ts'
import { nextProcess, nothing, refuse, send } from '../../kit/decoded.ts'
import { isSamePolicy } from '../../kit/option.ts'
import { encoder } from '../../kit/rules.ts'
import { call } from './calls.ts'
import { NO_IMAGES, proceed, VERSION } from './handshake.ts'
import { cancelTurn, encodeAnswer } from './permissions.ts'
import { modeFor, modelSetting, modeSetting, offersModels } from './settings.ts'
import { type AcpPrompt, type AcpState, beginTurn } from './state.ts'
import { endTurn } from './turn.ts'
import { checkVerb } from './verbs.ts'
import type { AcpCall } from './wire.ts'

/**
 * Files and terminals are not offered: agents have their own, and some break when a client offers them too. Forms are
 * offered, except for forms at a URL; notices and compactions are offered, because agents would otherwise write them as
 * text of the answer. Sub-agents are offered, because agents otherwise report little of what they do.
 */
const CLIENT = {
  protocolVersion: VERSION,
  clientCapabilities: {
    fs: { readTextFile: false, writeTextFile: false },
    terminal: false,
    elicitation: { form: {} },
    session: { notices: {}, compaction: {} },
    subagents: {},
  },
  clientInfo: { name: 'mainstem', title: 'Mainstem', version: '0.1.0' },
}

export const encodeCommand = encoder<AcpState>({
  open(state) {
    state.driving = true
    return send([call(state, { method: 'initialize', params: CLIENT })])
  },
  prompt,
  steer: () =>
    refuse('unsupported_option', 'the protocol cannot steer a turn; interrupt it, then prompt again'),
  interrupt,
  answer: encodeAnswer,
  set_model: (state, { model }) => setModel(state, model),
  set_policy: setPolicy,
})

function prompt(state: AcpState, command: AcpPrompt): Decoded {
  if (state.broken) return refuse(state.broken.code, state.broken.message)
  if (state.turn) return refuse('conflict', 'a turn is open; wait for its end')
  if (state.ready && command.images && !state.canSeeImages) {
    return refuse('unsupported_option', NO_IMAGES)
  }
  const checked = state.ready ? checkVerb(state, command.text) : 'sendable'
  if (typeof checked === 'object') return refuse(checked.code, checked.message)
  state.awaitsCommands ||= checked === 'waits'
  beginTurn(state, undefined, command)
  return proceed(state)
}

/** A turn whose prompt was not sent yet ends immediately. */
function interrupt(state: AcpState): Decoded {
  const { turn } = state
  if (turn?.held) return send([], endTurn(state, { answer: { stopReason: 'cancelled' } }))
  return cancelTurn(state)
}

/**
 * Changes that the protocol cannot express need a new process: restoring the default, and a model of the command line.
 */
function setModel(state: AcpState, model: string | null): Decoded {
  if (model === null || (state.quirks.modelAtStart && !offersModels(state))) return nextProcess
  return set(state, () => modelSetting(state, model))
}

/** A running process keeps the permission rules of its launch. */
function setPolicy(state: AcpState, { policy, mode }: Extract<Command, { type: 'set_policy' }>): Decoded {
  if (policy && state.quirks.rulesAtStart)
    return isSamePolicy(state.start.policy, policy) && state.start.mode === undefined ? nothing : nextProcess
  // A mode is approval and sandbox; the rest of a policy is part of the launch.
  if (policy && !isSamePolicy(state.start.policy, policy, 'approval', 'sandbox')) return nextProcess
  return set(state, () => {
    const wanted = mode ?? (policy && modeFor(state, policy))
    return wanted === undefined ? undefined : modeSetting(state, wanted)
  })
}

/** Before the session is open its modes and models are unknown, so the next process starts with the change. */
function set(state: AcpState, setting: () => AcpCall | undefined): Decoded {
  if (!state.ready) return nextProcess
  try {
    const sent = setting()
    return sent ? send([call(state, sent)]) : nothing
  } catch (thrown) {
    const { code, message } = toMainstemError(thrown)
    return refuse(code, message)
  }
}
