import type { AgentHistory } from '../fakes/history.ts'

/** The life of one agent process, as far as it could note it. */
interface Life {
  process: string
  owner: string
  session: string
  from: number
  to: number
}

/** Sessions in which an agent of one node was alive after another node had started one. */
export function overlaps(histories: readonly AgentHistory[]): string[] {
  const bySession = Map.groupBy(histories.flatMap(lifeOf), ({ session }) => session)
  return [...bySession.values()].flatMap((lives) => {
    const sorted = lives.toSorted((a, b) => a.from - b.from)
    return sorted.flatMap((later, index) =>
      sorted.slice(0, index).flatMap((earlier) => {
        const ms = Math.round(earlier.to - later.from)
        if (earlier.owner === later.owner || ms <= 0) return []
        return `${later.session}: ${earlier.process} was alive ${ms} ms after ${later.process} had started on another node`
      }),
    )
  })
}

function lifeOf({ process, notes }: AgentHistory): Life[] {
  const [started] = notes
  const signs = notes.filter((note) => note.type === 'alive')
  const [first, last] = [signs[0], signs.at(-1)]
  if (started?.type !== 'started' || !first || !last) return []
  return [{ process, owner: first.owner, session: started.session, from: first.at, to: last.at }]
}
