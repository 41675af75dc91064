import { dropped as ofProtocol } from '../protocols/acp/ignored-fields.ts'

/** Native fields without a counterpart in our events: a field by name, or `type/role` for a whole frame. */
export const dropped: Readonly<Record<string, string>> = {
  ...ofProtocol,
  type: 'the frame type, which the event expresses with its own type',
  role: 'the event type expresses the author',
  status: 'how a call or the turn ended is in its status or its outcome',
  timestamp: 'the log stamps every entry itself',
  'result error': 'why the turn failed, which is reported when the process exits',
  'message/user': 'an echo of our prompt',
}
