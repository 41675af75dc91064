import type { Event } from '../model/index.ts'
import { compareVersions } from '../model/version.ts'
import type { SessionSetup } from './setup.ts'

type Emit = (event: Event, turn: number | undefined, native: number | undefined) => void

/** Adds a notice after the first event that shows a version newer than the tested one; once for each version. */
export function noticeVersions(
  { agent, version }: Pick<SessionSetup, 'agent' | 'version'>,
  emit: Emit,
): Emit {
  const { name, testedVersion } = agent
  const noticed = new Set<string>()
  const notice = (installed: string | undefined, turn: number | undefined) => {
    if (installed === undefined || testedVersion === undefined || noticed.has(installed)) return
    if (!(compareVersions(installed, testedVersion) > 0)) return
    noticed.add(installed)
    const message = `${name} ${installed} is newer than ${testedVersion}, the newest version tested with Mainstem`
    const data = { version: installed, testedVersion }
    emit({ type: 'notice.raised', level: 'info', code: 'untested_version', message, data }, turn, undefined)
  }
  return (event, turn, native) => {
    emit(event, turn, native)
    if (event.type === 'turn.started') notice(version, turn)
    else if (event.type === 'session.updated') notice(event.agentVersion, turn)
  }
}
