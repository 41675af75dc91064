import type { Agent } from '../agents/agent.ts'
import { compareVersions, type Event } from '../model/index.ts'

type NoticeRaised = Extract<Event, { type: 'notice.raised' }>

/** Warns once about each version of an agent's program that is newer than the tested one. */
export class VersionNotice {
  readonly #agent: Agent
  readonly #checked = new Set<string>()

  constructor(agent: Agent) {
    this.#agent = agent
  }

  check(version: string | undefined): NoticeRaised | undefined {
    const { name, testedVersion } = this.#agent
    if (version === undefined || testedVersion === undefined || this.#checked.has(version)) return undefined
    this.#checked.add(version)
    if (!(compareVersions(version, testedVersion) > 0)) return undefined
    return {
      type: 'notice.raised',
      level: 'info',
      code: 'untested_version',
      message: `${name} ${version} is newer than ${testedVersion}, the newest version tested with Mainstem`,
      data: { version, testedVersion },
    }
  }
}
