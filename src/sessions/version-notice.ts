import type { NoticeRaised } from '../model/events/report.ts'
import { compareVersions } from '../model/version.ts'
import type { SessionSetup } from './setup.ts'

/** Reports agent versions newer than the tested one, once for each version. */
export class VersionNotices {
  readonly #agent: SessionSetup['agent']
  readonly #noticed = new Set<string>()

  constructor(agent: SessionSetup['agent']) {
    this.#agent = agent
  }

  /** Returns the notice about this version, if one is due. */
  of(version: string | undefined): NoticeRaised | undefined {
    const { name, testedVersion } = this.#agent
    if (version === undefined || testedVersion === undefined || this.#noticed.has(version)) return undefined
    if (!(compareVersions(version, testedVersion) > 0)) return undefined
    this.#noticed.add(version)
    return {
      type: 'notice.raised',
      level: 'info',
      code: 'untested_version',
      message: `${name} ${version} is newer than ${testedVersion}, the newest version tested with Mainstem`,
      data: { version, testedVersion },
    }
  }
}
