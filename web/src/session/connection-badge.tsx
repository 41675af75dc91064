import { Badge } from '../ui/badge.tsx'
import type { Connection } from './session-store.ts'

/** Whether the page shows the present. */
export function ConnectionBadge({ connection }: { connection: Connection }) {
  switch (connection.state) {
    case 'live':
      return <Badge look="good">live</Badge>
    case 'catching-up':
      return (
        <Badge look="ask">{connection.head === 0 ? 'connecting' : `catching up to ${connection.head}`}</Badge>
      )
    case 'offline':
      return <Badge look="bad">offline</Badge>
    case 'ended':
      return <Badge>complete</Badge>
    default:
      return connection satisfies never
  }
}
