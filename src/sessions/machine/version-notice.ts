import type { NoticeRaised } from '../../model/events/report.ts'
import { compareVersions } from '../../model/version.ts'
import type { SessionSetup } from '../process/setup.ts'

/** Reports agent versions newer than the tested one, once for each version. */
export class VersionNotices {
  readonly #agent: SessionSetup['agent']
  readonly #noticed = new Set<string>()

  constructor(agent: SessionSetup['agent']) {
    this.#agent = agent
  }

  /** Returns the notice about this version, if one is due. */
  of(version: string | undefined): NoticeRaised | undefined {
    const { name, testedVersion, unverified } = this.#agent
    if (version === undefined || this.#noticed.has(version)) return undefined
    const isNewer = testedVersion !== undefined && compareVersions(version, testedVersion) > 0
    if (!isNewer && unverified === undefined) return undefined
    this.#noticed.add(version)
    const why = unverified ?? `newer than ${testedVersion}, the newest version tested with Mainstem`
    return {
      type: 'notice.raised',
      level: 'info',
      code: 'untested_version',
      message: `${name} ${version} is ${why}`,
      data: { version, ...(testedVersion !== undefined && { testedVersion }) },
    }
  }
}
