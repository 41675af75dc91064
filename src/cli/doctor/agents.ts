import type { AgentReadiness } from '../../compose/readiness.ts'
import { type Check, ok, problem, warning } from './check.ts'

/** Agents that are installed, one by one; the others in one line. */
export function agentChecks(agents: readonly AgentReadiness[]): Check[] {
  const installed = agents.filter(({ state }) => state !== 'missing' && state !== 'built_in')
  const missing = agents.filter(({ state }) => state === 'missing').map(({ id }) => id)
  const checks = installed.map(checkOf)
  if (installed.length === 0) {
    const text = 'none is installed; the built-in ones work'
    checks.push(warning('agents', text, 'mainstem agents shows the command that installs each'))
  } else if (missing.length > 0) {
    checks.push(ok('agents', `${missing.length} others are not installed; see mainstem agents`))
  }
  return checks
}

function checkOf(agent: AgentReadiness): Check {
  const { id, state, note, fix = 'mainstem agents' } = agent
  const text = [versionOf(agent), loginOf(agent), ...(note === undefined ? [] : [note])].join(' · ')
  if (state === 'broken') return problem(id, `does not run${note === undefined ? '' : `: ${note}`}`, fix)
  return state === 'needs_login' ? warning(id, text, fix) : ok(id, text)
}

function versionOf({ version, testedVersion, fit, untested }: AgentReadiness): string {
  if (version === undefined) return 'version unknown'
  if (untested !== undefined) return `${version}, ${untested}`
  if (fit === undefined || testedVersion === undefined) return version
  return fit === 'tested' ? `${version}, tested` : `${version}, ${fit} than the tested ${testedVersion}`
}

/** Determined without reading or using a credential. */
function loginOf({ state, credentials: [first] }: AgentReadiness): string {
  if (state === 'needs_login') return 'not logged in'
  if (!first) return state === 'installed' ? 'login cannot be checked from outside' : 'no login needed'
  return `login in ${'file' in first ? first.file : first.variable}`
}
