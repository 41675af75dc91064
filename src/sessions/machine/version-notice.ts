import type { Agent } from '../../agents/agent.ts'
import type { NoticeRaised } from '../../model/events/report.ts'
import { compareVersions } from '../../model/version.ts'
import type { SessionSetup } from '../process/setup.ts'

type Tested = Pick<Agent, 'testedVersion' | 'oldestVersion' | 'unverified'>

/** Why a version is not among the tested ones, as the end of a sentence; undefined if it is. */
export function untestedBecause(version: string, agent: Tested): string | undefined {
  const { testedVersion, oldestVersion = testedVersion, unverified } = agent
  if (unverified !== undefined) return unverified
  if (testedVersion !== undefined && compareVersions(version, testedVersion) > 0)
    return `newer than ${testedVersion}, the newest version tested with Mainstem`
  if (oldestVersion !== undefined && compareVersions(version, oldestVersion) < 0)
    return `older than ${oldestVersion}, the oldest version tested with Mainstem`
  return undefined
}

/** Reports agent versions outside of the tested ones, once for each version. */
export class VersionNotices {
  readonly #agent: SessionSetup['agent']
  readonly #noticed = new Set<string>()

  constructor(agent: SessionSetup['agent']) {
    this.#agent = agent
  }

  /** Returns the notice about this version, if one is due. */
  of(version: string | undefined): NoticeRaised | undefined {
    const { name, testedVersion, oldestVersion = testedVersion } = this.#agent
    if (version === undefined || this.#noticed.has(version)) return undefined
    const why = untestedBecause(version, this.#agent)
    if (why === undefined) return undefined
    this.#noticed.add(version)
    const isOlder = oldestVersion !== undefined && compareVersions(version, oldestVersion) < 0
    return {
      type: 'notice.raised',
      level: isOlder ? 'warning' : 'info',
      code: 'untested_version',
      message: `${name} ${version} is ${why}`,
      data: { version, ...(testedVersion !== undefined && { testedVersion }) },
    }
  }
}
