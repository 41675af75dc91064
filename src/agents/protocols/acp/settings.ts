import type { Policy } from '../../../model/index.ts'
import { unsupported } from '../../kit/option.ts'
import type { AcpQuirks, PolicyCell } from './launch/quirks.ts'
import type { AcpState } from './state.ts'
import type { AcpCall } from './wire.ts'

/** All settings to apply before the first prompt; throws if the agent does not support one. */
export function requiredSettings(state: AcpState): AcpCall[] {
  const { policy, options, mode: chosen } = state.start
  // The version may be known only after the handshake.
  if (state.quirks.unenforced !== undefined) checkCell('the agent', policy, state.quirks)
  const settings: AcpCall[] = []
  const mode = chosen ?? modeFor(state, policy)
  if (mode !== undefined && mode !== state.known.mode) settings.push(modeSetting(state, mode))
  if (options.model !== undefined && !state.quirks.modelAtStart)
    settings.push(modelSetting(state, options.model))
  if (options.effort !== undefined) settings.push(optionSetting(state, 'thought_level', options.effort))
  return settings
}

export function cellOf({ approval, sandbox }: Policy): PolicyCell {
  return `${approval} ${sandbox}`
}

/** Rejects an approval and a sandbox that the agent cannot enforce together. */
export function checkCell(agent: string, policy: Policy, { modes, unenforced }: AcpQuirks): void {
  const cell = cellOf(policy)
  if (!modes[cell]) throw unsupported(agent, cell, unenforced ?? 'it has no mode that enforces it')
}

/** The first offered mode that enforces the policy; undefined without modes, if the policy does not restrict files. */
export function modeFor(state: AcpState, policy: Policy): string | undefined {
  const cell = cellOf(policy)
  const offered = (state.known.modes ?? []).map(({ id }) => id)
  // An agent without modes uses its default behaviour and requests approval from us.
  if (offered.length === 0 && policy.sandbox !== 'read-only') return undefined
  const chosen = state.quirks.modes[cell]?.find((id) => offered.includes(id))
  if (chosen === undefined)
    throw unsupported('the agent', cell, `it has the modes ${offered.join(', ') || '–'}`)
  return chosen
}

export function modeSetting(state: AcpState, modeId: string): AcpCall {
  if (!state.hasModes) return optionSetting(state, 'mode', modeId)
  return { method: 'session/set_mode', params: { sessionId: state.sessionId, modeId } }
}

const offersOption = ({ known }: AcpState) =>
  known.configOptions?.some(({ category }) => category === 'model') ?? false

export function offersModels(state: AcpState): boolean {
  return state.hasModels || offersOption(state)
}

export function modelSetting(state: AcpState, modelId: string): AcpCall {
  if (offersOption(state) || !state.hasModels) return optionSetting(state, 'model', modelId)
  return { method: 'session/set_model', params: { sessionId: state.sessionId, modelId } }
}

/** Throws for a value that is not offered, because agents react to unknown values in too many ways. */
function optionSetting(state: AcpState, category: string, value: string): AcpCall {
  const option = state.known.configOptions?.find((one) => one.category === category)
  const offered = (option?.choices ?? []).map(({ id }) => id)
  if (!option || !offered.includes(value)) {
    throw unsupported('the agent', `${category} ${value}`, `it offers ${offered.join(', ') || 'none'}`)
  }
  const params = { sessionId: state.sessionId, configId: option.id, value }
  return { method: 'session/set_config_option', params }
}
