/** What a board says and no event carries: a field by its name or by the end of its path, or a whole frame. */
export const dropped: Readonly<Record<string, string>> = {
  type: 'what kind of thing it is, which the event says in its own words',
  tag: 'which call of ours is answered',
  id: 'the id of an event; messages and calls keep theirs',
  timestamp: 'the log stamps every entry itself',
  'body.state': 'that the session runs, or how it ended: the outcome of the turn says it',
  'payload.toolId': 'which call a result belongs to, in the words of the server',
  'payload.status': 'how a call failed, which its own status says',
}
