/** What OpenCode says and no event carries: a field by its name or by the end of its path, or a whole frame. */
export const dropped: Readonly<Record<string, string>> = {
  type: 'what kind of thing it is, which the event says in its own words',
  role: 'who speaks is in the type of the event',
  id: 'the id of an event of the stream, a step or a prompt; parts and calls keep theirs',
  messageID: 'the answer that a part belongs to; the order of the parts says it',
  'info.parentID': 'the prompt that an answer belongs to; the turn says it',
  'properties.sessionID': 'another session of the same server, which is none of ours',

  'state.status': 'how far a call is, which the type of the event or its own status says',
  'part.reason': 'why one model call ended; how the turn ended is its outcome',
  'info.finish': 'why one model call ended; how the turn ended is its outcome',
  'metadata.output': 'the output of the call again, cut in another place when it is long',
  'status.message': 'why another session of the same server waits; for ours it is carried',
  responseHeaders: 'how the answer of the provider was transported; its status and its body are carried',

  slug: 'a second name of a session',
  projectID: 'the project it counts the directory to',
  variant: 'the effort of the model where nobody asked for one',

  'plugin.added': 'what the server loads while it starts',
  'file.watcher.updated': 'the tool that changed a file tells it, with the diff',
}
