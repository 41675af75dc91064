/** Places of texts that no event has: by agent and reason, `<frame> <path>`; a path may end with `*`. */
export const reviewed: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  acp: {
    'the name of the program, which the session knows': [
      'response result.agentInfo.name',
      'response result.agentInfo.title',
      'response result.info.title',
    ],
    'ways to log in; the error lists them when a login is missing': [
      'response result.authMethods.*',
      '_auth/status_update params.authStatus.label',
    ],
    'what an option, a command, a skill or a model is for; its name is kept': [
      'response result.configOptions.description',
      'config_option_update params.update.configOptions.description',
      'response result.availableCommands.*',
      'available_commands_update params.update.availableCommands.*',
      'available_commands_update params.update._meta.availableSkillDetails.*',
      'response result.models.availableModels.*',
    ],
    'a placeholder while the input was incomplete': [
      'tool_call params.update.title',
      'tool_call_update params.update.title',
    ],
    'the output again, as a block of code': ['tool_call_update params.update.content.content.text'],
    'other sessions of the same agent': ['response result.sessions.title'],
    'the tools of a sub-agent, which its calls report': ['session_message params.update.content.text'],
    "a suggestion for the user's next prompt": ['qwen/notify/session/prompt-suggestion params.suggestion'],
    'the failure of a prompt, which its turn reports when it ends': ['response error.message'],
    'a note of whoever made the recording': [
      'available_commands_update params.update._recorderNote',
      'available_commands_update params.update._meta._recorderNote',
    ],
  },
  claude: {
    'its own plugins': ['system/init plugins.path'],
    'the text of a denial or an error, which the output of the call has without its prefix': [
      'user/user tool_use_result',
    ],
    'a diagnosis of the client after an interrupt': ['result/error_during_execution errors'],
    'what a command or a sub-agent is for; its name is kept': [
      'control_response response.response.commands.*',
      'control_response response.response.agents.description',
    ],
    'the answer to a request that Mainstem does not send': ['control_response response.response.text'],
    'the names of the parts of its context; the figures are kept': [
      'control_response response.response.categories.name',
      'control_response response.response.gridRows.categoryName',
    ],
    'a mark for the model after an interrupt': ['user/user message.content.text'],
    'the answer to a command, which is also the text of its message': [
      'assistant/assistant local_command_source',
    ],
  },
  codex: {
    'the name and the files of the program': [
      'response result.userAgent',
      'response result.thread.path',
      'thread/started params.thread.path',
    ],
    'the prompt of a review, which the turn has in the words of its caller': [
      'userMessage/userMessage params.item.content.text',
      'response result.turn.items.content.text',
      'enteredReviewMode/enteredReviewMode params.item.review',
    ],
    'a guess at what the command does; the command itself is kept': [
      'commandExecution/commandExecution params.item.commandActions.command',
    ],
    'the change so far; the last of a turn is in its end': ['turn/diff/updated params.diff'],
    'a list of models or threads that Mainstem does not request': ['response result.data.*'],
    'what a tool is for; its name and input are kept': [
      'mcpServer/elicitation/request params._meta.tool_description',
    ],
    'its own instructions for a mode': [
      'thread/settings/updated params.threadSettings.collaborationMode.settings.developer_instructions',
    ],
    'the history of a resumed thread, which is in an earlier log': [
      'response result.thread.preview',
      'response result.thread.turns.*',
    ],
  },
  gemini: {
    'the name of the program, which the session knows': ['response result.agentInfo.title'],
    'ways to log in; the error lists them when a login is missing': ['response result.authMethods.*'],
    'what a command is for; its name is kept': [
      'available_commands_update params.update.availableCommands.description',
    ],
    'the change of a mode, as a text': ['agent_message_chunk params.update.content.text'],
    'an echo of our prompt': ['message/user content'],
  },
  opencode: {
    'why one model call ended; the outcome tells how the turn ended': [
      'step_finish part.reason',
      'step-finish properties.part.reason',
    ],
    'the end of an output of which the beginning is carried': ['tool_use part.state.metadata.output'],
    'transport details of a failed call to the model': [
      'error error.data.responseHeaders.date',
      'session.error properties.error.data.responseHeaders.date',
      'message.updated/assistant properties.info.error.data.responseHeaders.date',
    ],
    'why another session of the same server waits': ['session.status properties.status.message'],
  },
  opencode2: {
    'ways to log in; the error lists them when a login is missing': ['response result.authMethods.*'],
    'what a command is for; its name is kept': [
      'available_commands_update params.update.availableCommands.description',
    ],
    'the whole file; the request has the change and the input': [
      'session/request_permission params.toolCall.content.newText',
    ],
    'the connection of the recorder': ['response raw', 'response path', 'response closed'],
    'the response to a call; the stream reports what concerns the session': ['response body.*'],
    'what a sub-agent or the model is told, and not the user': [
      'session.inbox.enqueued data.item.payload.text',
      'session.instructions.updated data.text',
    ],
    'the input of a call as text; the call has it parsed': [
      'session.tool.input.ended data.text',
      'tool_use part.state.metadata.rawInput',
    ],
    'the exit code again, in a sentence for the model': [
      'session.tool.success data.content.text',
      'tool_use part.state.metadata.content.text',
    ],
    'a call of a server that was killed, which ended with that server': [
      'session.tool.failed data.error.message',
    ],
    'the trigger and the rest of a compacted conversation, for the model only': [
      'session.compaction.started data.reason',
      'session.compaction.started data.recent',
      'session.compaction.ended data.recent',
      'session.compaction.failed data.reason',
    ],
    'the failure of one model call; the execution reports it again when it ends': [
      'session.step.failed data.error.message',
    ],
    'why one model call ended; the outcome tells how the turn ended': ['step_finish part.reason'],
  },
  pi: {
    'its own prompt to the model; the names of its tools are kept': [
      'message_start/system message.*',
      'message_end/system message.*',
      'agent_end messages.sections.*',
      'agent_end messages.toolsAdded.*',
    ],
    'an echo of our prompt': [
      'message_start/user message.content.text',
      'message_end/user message.content.text',
      'agent_end messages.content.text',
    ],
    'a text whose message is complete later': ['message_update/text_end assistantMessageEvent.content'],
    'why an interrupted or retried call failed; the last failure is kept': [
      'message_start/assistant message.errorMessage',
      'message_end/assistant message.errorMessage',
      'turn_end/assistant message.errorMessage',
      'agent_end messages.errorMessage',
      'auto_retry_end finalError',
    ],
    'an echo of our command': ['response command'],
    'what a command is for and where it is defined; its name is kept': [
      'response data.commands.description',
      'response data.commands.sourceInfo.path',
    ],
    'a terminal decoration without effect here': [
      'setWidget widgetLines',
      'setTitle title',
      'set_editor_text text',
    ],
    "our own gate's name and payload": ['input title', 'input placeholder'],
    'the summary of a compacted conversation, for the model only': [
      'compaction_end result.summary',
      'response data.summary',
    ],
    'our own queued prompts': ['queue_update steering', 'queue_update followUp', 'response data.steering'],
  },
}
