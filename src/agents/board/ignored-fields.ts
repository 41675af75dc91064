/** Native fields without a counterpart in our events: a field by name or path suffix, or a whole frame. */
export const dropped: Readonly<Record<string, string>> = {
  type: 'the type, which the event expresses with its own type',
  tag: 'the call that the response belongs to',
  id: 'the id of an event; messages and calls keep theirs',
  sessionId: 'the session of the board, which is reported when it opens',
  'diff payload.file': 'a change of a file, which the end of its call reports',
  'diff payload.diff': 'a change of a file, which the end of its call reports',
  'error payload.message': 'why the session failed, which is reported when the connection ends',
  'body.error': 'why the session failed, which is reported when the connection ends',
  timestamp: 'the log stamps every entry itself',
  'body.state': 'the session state; the turn outcome expresses it',
  'payload.toolId': "the server's id of the call",
  'payload.status': 'how a call failed; its status expresses it',
}
