import { type ErrorInfo, type SessionOptions, toMainstemError } from '../../../model/index.ts'
import type { Decoded, Emitted } from '../../agent.ts'
import { send } from '../../kit/decoded.ts'
import { type Fields, fields, flag, isFields, list, number, text } from '../../kit/fields.ts'
import { updateSession } from '../../kit/known.ts'
import { call } from './calls.ts'
import { errorOf } from './errors.ts'
import { quirksOf } from './launch/known-agents.ts'
import { type AcpQuirks, quirksAt } from './launch/quirks.ts'
import { offered } from './session.ts'
import { requiredSettings } from './settings.ts'
import type { AcpState } from './state.ts'
import { endTurn } from './turn.ts'
import { checkVerb } from './verbs.ts'
import type { AcpCall } from './wire.ts'

/** The version that this codec drives. It can decode a draft of the next one. */
export const VERSION = 1

export const NO_IMAGES = 'images: the agent does not accept them'

/** Decodes the agent's identity; if we opened the connection, opens the session next. */
export function decodeInitialized(state: AcpState, native: Fields): Decoded {
  if (!isFields(native.result)) {
    return refuseProtocol(state, `the agent refused the handshake: ${errorOf(native.error).message}`)
  }
  const { result } = native
  const info = isFields(result.agentInfo) ? result.agentInfo : fields(result, 'info')
  if (state.detect) state.quirks = detected(text(info, 'name')) ?? state.quirks
  const version = text(info, 'version')
  const emitted = updateSession(state, { agentVersion: version })
  state.quirks = quirksAt(state.quirks, version)
  const answered = number(result, 'protocolVersion') ?? VERSION
  if (state.driving && answered !== VERSION) {
    const refused = refuseProtocol(
      state,
      `the agent uses protocol version ${answered}; version ${VERSION} is required`,
    )
    return send(refused.writes, [...emitted, ...refused.emitted])
  }
  const capabilities = fields(result, 'agentCapabilities')
  state.canLoad = flag(capabilities, 'loadSession')
  state.canFork = isFields(fields(capabilities, 'sessionCapabilities').fork)
  state.canSeeImages = flag(fields(capabilities, 'promptCapabilities'), 'image')
  state.logins = list(result, 'authMethods').flatMap((method) =>
    isFields(method) ? (text(method, 'name') ?? []) : [],
  )
  return state.driving ? openSession(state, emitted) : send([], emitted)
}

/** A user-defined command does not select the model on its command line. */
function detected(name: string | undefined): AcpQuirks | undefined {
  const quirks = quirksOf(name)
  return quirks && { ...quirks, modelAtStart: false }
}

function refuseProtocol(state: AcpState, message: string): Decoded {
  const notice: Emitted = { type: 'notice.raised', level: 'error', code: 'protocol_refused', message }
  return fail(state, { code: 'protocol_error', message }, [notice])
}

/** The process cannot be used any more: ends the waiting turn and closes the input. */
function fail(state: AcpState, error: ErrorInfo, emitted: readonly Emitted[] = []): Decoded {
  if (!state.driving) return send([], emitted)
  state.broken = error
  return send([{ kind: 'end' }], [...emitted, ...endTurn(state, { error })])
}

function openSession(state: AcpState, emitted: readonly Emitted[]): Decoded {
  const { cwd, resume, fork, options } = state.start
  const mcpServers = mcpServersOf(options.mcpServers ?? {})
  if (resume === undefined) {
    return send([call(state, { method: 'session/new', params: { cwd, mcpServers } })], emitted)
  }
  if (fork ? !state.canFork : !state.canLoad) {
    const message = fork ? 'the agent cannot copy a session' : 'the agent cannot resume a session'
    return fail(state, { code: 'session_not_found', message }, emitted)
  }
  const params = { sessionId: resume, cwd, mcpServers }
  return send([call(state, { method: fork ? 'session/fork' : 'session/load', params })], emitted)
}

export function decodeOpened(state: AcpState, native: Fields, sent: AcpCall): Decoded {
  if (isRefused(native)) return refuseSession(state, errorOf(native.error), sent)
  const result = fields(native, 'result')
  state.sessionId = text(result, 'sessionId') ?? state.sessionId
  if (state.sessionId === undefined) {
    const message = 'the agent opened a session without an id'
    return refuseSession(state, { code: 'protocol_error', message }, sent)
  }
  state.hasModes = Array.isArray(fields(result, 'modes').availableModes)
  state.hasModels = Array.isArray(fields(result, 'models').availableModels)
  const emitted = updateSession(state, { nativeSessionId: state.sessionId, ...offered(result) })
  if (!state.driving) return send([], emitted)
  try {
    state.setup = requiredSettings(state)
  } catch (thrown) {
    const { code, message } = toMainstemError(thrown)
    return fail(state, { code, message }, emitted)
  }
  state.ready = true
  const isLate = state.replaying && state.quirks.replaysLate
  state.awaitsCommands = state.known.commands === undefined && (isLate || isVerbHeld(state))
  return proceed(state, emitted)
}

/** A response without content is still a success. */
function isRefused({ error }: Fields): boolean {
  return error !== undefined && error !== null
}

function refuseSession(state: AcpState, error: ErrorInfo, sent: AcpCall): Decoded {
  const resuming = sent.method !== 'session/new'
  // Agents reject an unknown session with many codes; this call has no other purpose.
  if (resuming && error.code !== 'authentication_failed') error.code = 'session_not_found'
  const ways = error.code === 'authentication_failed' && state.logins.length > 0
  if (ways) error.message += ` (${state.logins.join('; ')})`
  return fail(state, error, [
    {
      type: 'notice.raised',
      level: 'error',
      code: resuming ? 'resume_failed' : 'agent_error',
      message: error.message,
      ...(error.native !== undefined && { data: error.native }),
    },
  ])
}

/** Whether the session is open and configured, so that a prompt can be sent. */
export function isReady({ ready, awaitsCommands, setup, settingCall }: AcpState): boolean {
  return ready && !awaitsCommands && settingCall === undefined && setup.length === 0
}

/** Performs the next step between an open session and its waiting prompt. */
export function proceed(state: AcpState, emitted: readonly Emitted[] = []): Decoded {
  if (!state.ready || state.awaitsCommands || state.settingCall !== undefined) return send([], emitted)
  const next = state.setup.shift()
  if (next) {
    const write = call(state, next)
    state.settingCall = state.calls.count
    return send([write], emitted)
  }
  const held = state.turn?.held
  if (!held) return send([], emitted)
  const checked = checkVerb(state, held.text)
  if (checked === 'waits') return send([], emitted)
  if (checked !== 'sendable') return send([], [...emitted, ...endTurn(state, { error: checked })])
  const images = (held.images ?? []).map(({ mimeType, data }) => ({ type: 'image', mimeType, data }))
  if (images.length > 0 && !state.canSeeImages) {
    const error: ErrorInfo = { code: 'unsupported_option', message: NO_IMAGES }
    return send([], [...emitted, ...endTurn(state, { error })])
  }
  const prompt = [...images, { type: 'text', text: held.text }]
  const params = { sessionId: state.sessionId, prompt }
  return send([call(state, { method: 'session/prompt', params })], emitted)
}

function isVerbHeld(state: AcpState): boolean {
  const { held } = state.turn ?? {}
  return held !== undefined && checkVerb(state, held.text) === 'waits'
}

/** A setting was applied or rejected. */
export function decodeSet(state: AcpState, native: Fields, sent: AcpCall): Decoded {
  const awaited = state.settingCall !== undefined && native.id === state.settingCall
  if (awaited) state.settingCall = undefined
  if (isRefused(native)) {
    const { message } = errorOf(native.error)
    const wish = ['modeId', 'modelId', 'value'].map((key) => text(sent.params, key))
    const data = { method: sent.method, wish: wish.find((value) => value !== undefined) ?? '' }
    const notice: Emitted = { type: 'notice.raised', level: 'warning', code: 'mode_refused', message, data }
    // A setting requested at launch must be applied, otherwise nothing runs.
    return awaited ? fail(state, { code: 'unsupported_option', message }, [notice]) : send([], [notice])
  }
  const { params, method } = sent
  const now = offered(fields(native, 'result'))
  // Some agents send an empty response for success.
  if (method === 'session/set_mode') now.mode ??= text(params, 'modeId')
  if (method === 'session/set_model') now.model ??= text(params, 'modelId')
  const emitted = updateSession(state, now)
  return awaited ? proceed(state, emitted) : send([], emitted)
}

type AcpServers = NonNullable<SessionOptions['mcpServers']>

/** Converts servers to the protocol's format, which has lists instead of records. */
function mcpServersOf(servers: AcpServers): Fields[] {
  const pairs = (record: Readonly<Record<string, string>> | undefined) =>
    Object.entries(record ?? {}).map(([name, value]) => ({ name, value }))
  return Object.entries(servers).map(([name, { command, args, url, headers, env }]) =>
    url === undefined
      ? { name, command, args: args ?? [], env: pairs(env) }
      : { type: 'http', name, url, headers: pairs(headers) },
  )
}
