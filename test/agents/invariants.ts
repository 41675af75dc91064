import { Entry, type Event } from '../../src/model/index.ts'

type Of<T extends Event['type']> = Extract<Event, { type: T }>

/**
 * What holds of every log, whatever the agent did and wherever it was cut off. Returns every violation in words,
 * so that a failing test says what is wrong and not only that something is.
 */
export function violations(entries: readonly Entry[]): string[] {
  const found: string[] = []
  const complain = (entry: Entry, message: string) =>
    found.push(`seq ${entry.seq} ${entry.event.type}: ${message}`)
  const checks = [turns(), messages(), tools(), requests(), subagents(), usage()]
  entries.forEach((entry, index) => {
    if (entry.seq !== index + 1) complain(entry, 'the log has a gap')
    const parsed = Entry.safeParse(entry)
    if (!parsed.success) complain(entry, `not valid: ${JSON.stringify(parsed.error.issues[0])}`)
    for (const check of checks) check.see(entry, (message) => complain(entry, message))
  })
  if (entries[0]?.event.type !== 'session.started') found.push('the log does not begin with session.started')
  for (const check of checks) found.push(...check.left())
  return found
}

interface Check {
  see(entry: Entry, complain: (message: string) => void): void
  left(): string[]
}

function turns(): Check {
  let open: number | undefined
  const ended = new Set<number>()
  return {
    see({ event, turn }, complain) {
      if (event.type === 'turn.started') {
        if (open !== undefined) complain(`begins inside turn ${open}`)
        if (ended.has(event.turn)) complain('begins a second time')
        open = event.turn
      }
      if (turn !== undefined && ended.has(turn)) complain(`comes after the end of turn ${turn}`)
      // A turn that waits may be dropped while another one runs.
      const dropped = event.type === 'turn.completed' && event.turn !== open && !ended.has(event.turn)
      if (open !== undefined && turn !== open && event.type !== 'turn.queued' && !dropped)
        complain(`is not of the open turn ${open}`)
      if (event.type === 'turn.completed') {
        if (event.turn === open) open = undefined
        ended.add(event.turn)
      }
    },
    left: () => (open === undefined ? [] : [`turn ${open} has no end`]),
  }
}

function messages(): Check {
  const open = new Set<string>()
  const closed = new Set<string>()
  return {
    see({ event }, complain) {
      if (event.type === 'text.delta' || event.type === 'thinking.delta') {
        if (closed.has(event.messageId)) complain(`${event.messageId} goes on after its end`)
        open.add(event.messageId)
      } else if (event.type === 'text.completed' || event.type === 'thinking.completed') {
        if (closed.has(event.messageId)) complain(`${event.messageId} ends twice`)
        open.delete(event.messageId)
        closed.add(event.messageId)
      } else if (event.type === 'message.discarded') {
        open.delete(event.messageId)
        closed.add(event.messageId)
      }
    },
    left: () => [...open].map((id) => `message ${id} has no end`),
  }
}

function tools(): Check {
  const open = new Set<string>()
  const closed = new Set<string>()
  let changedBy: string | undefined
  return {
    see({ event }, complain) {
      if (changedBy !== undefined && event.type !== 'file.changed') {
        const end = event.type === 'tool.completed' ? (event as Of<'tool.completed'>) : undefined
        if (end?.toolId !== changedBy || end.status !== 'success')
          complain(`does not end ${changedBy}, which changed files`)
      }
      changedBy = event.type === 'file.changed' ? event.toolId : undefined
      if (event.type === 'tool.started') {
        if (open.has(event.toolId) || closed.has(event.toolId)) complain(`${event.toolId} starts twice`)
        open.add(event.toolId)
      } else if (event.type === 'tool.progressed' || event.type === 'tool.updated') {
        if (!open.has(event.toolId)) complain(`${event.toolId} is not open`)
      } else if (event.type === 'tool.completed') {
        if (!open.delete(event.toolId)) complain(`${event.toolId} was not open`)
        closed.add(event.toolId)
      }
    },
    left: () => [...open].map((id) => `tool ${id} has no end`),
  }
}

function requests(): Check {
  const open = new Set<string>()
  const seen = new Set<string>()
  return {
    see({ event }, complain) {
      if (event.type === 'request.opened') {
        if (seen.has(event.requestId)) complain(`${event.requestId} opens twice`)
        seen.add(event.requestId)
        open.add(event.requestId)
      } else if (event.type === 'request.resolved' || event.type === 'request.withdrawn') {
        if (!open.delete(event.requestId)) complain(`${event.requestId} was not open`)
      }
    },
    left: () => [...open].map((id) => `request ${id} has no end`),
  }
}

function subagents(): Check {
  const open = new Set<string>()
  return {
    see({ event }, complain) {
      if (event.type === 'subagent.started') {
        if (open.has(event.id)) complain(`${event.id} starts twice`)
        open.add(event.id)
      } else if (event.type === 'subagent.completed' && !open.delete(event.id))
        complain(`${event.id} was not open`)
    },
    left: () => [...open].map((id) => `sub-agent ${id} has no end`),
  }
}

/** The total of a turn comes once, and nothing but its end follows. */
function usage(): Check {
  let total = false
  return {
    see({ event }, complain) {
      if (event.type === 'usage.reported' && event.scope === 'turn') {
        if (total) complain('a turn has two totals')
        total = true
      } else if (event.type === 'turn.completed') total = false
    },
    left: () => [],
  }
}

/** Messages whose whole text is not what was shown of them piece by piece. */
export function unfaithful(entries: readonly Entry[]): string[] {
  const shown = new Map<string, string>()
  return entries.flatMap(({ event }) => {
    if (event.type === 'text.delta' || event.type === 'thinking.delta') {
      shown.set(event.messageId, (shown.get(event.messageId) ?? '') + event.text)
    } else if (event.type === 'text.completed' || event.type === 'thinking.completed') {
      const pieces = shown.get(event.messageId)
      if (pieces !== undefined && pieces !== event.text) return [event.messageId]
    }
    return []
  })
}
