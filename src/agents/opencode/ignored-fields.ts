/** Native fields without a counterpart in our events: a field by name or path suffix, or a whole frame. */
export const dropped: Readonly<Record<string, string>> = {
  type: 'the type, which the event expresses with its own type',
  role: 'the event type expresses the author',
  id: 'the id of an event of the stream, a step or a prompt; parts and calls keep theirs',
  messageID: 'the answer that a part belongs to; the order of the parts expresses it',
  'info.parentID': 'the prompt that an answer belongs to; the turn expresses it',
  'properties.sessionID': 'another session of the same server, which we do not follow',

  'state.status': 'the progress of a call, which the event type or its status expresses',
  'part.reason': 'why one model call ended; the outcome tells how the turn ended',
  'info.finish': 'why one model call ended; the outcome tells how the turn ended',
  'metadata.output': 'the output of the call again, cut in another place when it is long',
  'status.message': 'why another session of the same server waits; for ours it is mapped',
  responseHeaders: "transport details of the provider's response; its status and body are mapped",

  sessionID: 'the session, which is ours or that of a sub-agent',
  'session.updated': 'the properties of the session; each is reported when it changes',
  'info.path': 'the directory it was started in is in the first entry of the log',
  'info.directory': 'the directory it was started in is in the first entry of the log',
  'message.updated info.agent': 'the mode of the session, which is reported when it changes',
  'message.updated info.mode': 'the mode of the session, which is reported when it changes',
  'message.updated info.model': 'the model of the session, which is reported when it changes',
  'message.updated info.modelID': 'the model of the session, which is reported when it changes',
  'message.updated info.providerID': 'the model of the session, which is reported when it changes',
  'message.updated info.error': 'why the answer failed, which the end of the turn reports',
  'tool part.tool': 'the name of a call, which its start reports',
  'tool state.input': 'the input of a call, which its start reports',
  'tool part.callID': 'the id of a call, which its start reports',
  'tool state.metadata.model': 'the model of a sub-agent, which its start reports',

  slug: 'a second name of a session',
  projectID: 'the project of the directory',
  variant: 'the default effort of the model',

  'plugin.added': 'what the server loads while it starts',
  'file.watcher.updated': 'the tool that changed a file reports it, with the diff',
}
