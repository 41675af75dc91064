import { dropped as acp } from '../../protocols/acp/ignored-fields.ts'
import { dropped as earlier } from '../ignored-fields.ts'

/** Native fields without a counterpart in our events: a field by name or path suffix, or a whole frame. */
export const dropped: Readonly<Record<string, string>> = {
  ...acp,
  ...earlier,

  path: 'the call that a response belongs to',
  body: 'the response to a call; the stream reports the same, and after a gap its messages are mapped',
  sse: 'the connection of the recorder',
  stream: 'the connection of the recorder',
  contentType: 'the connection of the recorder',
  raw: 'a comment that keeps the connection open',
  closed: 'the end of the connection of the recorder',
  dir: 'the direction of a line of a transcript',
  serviceExit: 'the exit of the server, which ends the turn',

  inboxID: 'the id of a prompt; the turn expresses it',
  'item.delivery': 'how a prompt joins the work; the turn expresses it',
  'data.delivery': 'how a prompt joins the work; the turn expresses it',
  'item.payload.text=You are a subagent': 'the prompt of a sub-agent, which its call has',
  'item.payload.text=<system-reminder>': 'instructions for the model when its mode changes',
  'item.payload.text=User requested that active':
    'what the model is told when a call is moved to the background',
  'payload.files': 'the files of a prompt, which a client sent',
  'data.server': 'the MCP server whose state changed',
  'session.compaction.failed': 'the trigger of a compaction; the notice has its error',
  'error.message=Tool execution interrupted: shell':
    'a call of a server that was killed, which ended with that server',
  'part.id': 'the id of a part of a one-shot run',
  rawInput: 'the input of a call as text; the call has it parsed',
  assistantMessageID: 'the answer that a part belongs to; the id of its text contains it',
  'location.directory': 'the directory, which the session names',
  subpath: 'the directory, relative to its project',
  'session.instructions.updated': 'what the model is told about its surroundings, as digests',
  'session.tool.input.ended': 'the input of a call as text; the call has it parsed',
  'data.finish': 'why one model call ended; the outcome tells how the turn ended',
  'data.rawFinish': 'why one model call ended, in the words of the provider',
  'content.text=Command exited with code': 'the exit code again, in a sentence for the model',
  'metadata.shellID': 'the process of a command, which the call represents',
  'metadata.status': 'the progress of a call, which the event type or its status expresses',
  'session.step.failed': 'the failure of one model call; the execution reports it again when it ends',
  'session.compaction.delta': 'the summary of a compacted conversation, for the model only',
  'session.compaction.started': 'the summary of a compacted conversation, for the model only',
  'session.compaction.ended': 'the summary of a compacted conversation, for the model only',
  'shell.created': 'the process of a command, which the call represents',
  'shell.exited': 'the process of a command, which the call represents',
  'shell.deleted': 'the process of a command, which the call represents',
  reasoningField: 'the field of the provider that had the reasoning',
  'part.partID': 'the id of a part of a one-shot run; its call keeps its own',
}
