/** Native fields without a counterpart in our events: a field by name or path suffix, or a whole frame. */
export const dropped: Readonly<Record<string, string>> = {
  type: 'the type, which the event expresses with its own type',
  tag: 'the call that the response belongs to',
  id: 'the id of an event; messages and calls keep theirs',
  timestamp: 'the log stamps every entry itself',
  'body.state': 'the session state; the turn outcome expresses it',
  'payload.toolId': "the server's id of the call",
  'payload.status': 'how a call failed; its status expresses it',
}
