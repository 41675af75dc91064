import {
  type Image,
  MainstemError,
  NativeSessionId,
  type SetPolicyCommand as PolicyChange,
} from '../model/index.ts'
import {
  BoundAnswer,
  HandOverCommand,
  PromptCommand,
  RenameCommand,
  SetModelCommand,
  SetPolicyCommand,
} from '../model/request/command.ts'
import { NewSession } from '../model/session/new-session.ts'
import { parse, parseField } from '../model/text/parse.ts'
import type { Change } from './process/setup.ts'

// Every command enters a session through these functions, whichever interface or node it comes from. The types of the
// parameters are no protection: callers without a compiler may pass anything.

/** Validates a request for a session. */
export function parseNewSession(request: NewSession): NewSession {
  const parsed = parse(NewSession, request, 'session')
  if (parsed.fork && parsed.resume === undefined)
    throw new MainstemError('invalid_request', 'fork: name the conversation to copy in resume', {
      field: 'fork',
    })
  return parsed
}

/** Validates the text of a prompt. */
export function parsePrompt(text: string): string {
  return parseField(PromptCommand.shape.text, text, 'prompt')
}

/** Validates the images of a prompt. */
export function parseImages(images: readonly Image[]): readonly Image[] {
  return parseField(PromptCommand.shape.images, images, 'images') ?? []
}

/** Validates an answer. `checkFit` checks whether it fits its request. */
export function parseAnswer(answer: BoundAnswer): BoundAnswer {
  return parse(BoundAnswer, answer, 'answer')
}

/** Validates a change of settings. */
export function parseChange(change: Change): Change {
  return change.type === 'set_model' ? parse(SetModelCommand, change, 'change') : parsePolicyChange(change)
}

/** Validates a change of the policy or the mode. */
export function parsePolicyChange(change: PolicyChange): PolicyChange {
  const command = parse(SetPolicyCommand, change, 'change')
  if ((command.policy === undefined) !== (command.mode === undefined)) return command
  throw new MainstemError('invalid_request', 'mode: set either a mode or a policy', { field: 'mode' })
}

/** Validates which agent continues a session. */
export function parseHandOver(command: HandOverCommand): HandOverCommand {
  return parse(HandOverCommand, command, 'command')
}

/** Validates the name of a session; `null` removes it. */
export function parseName(name: string | null): string | null {
  return parseField(RenameCommand.shape.name, name, 'name')
}

/** Validates the id of a native conversation. */
export function parseNativeId(id: string): string {
  return parseField(NativeSessionId, id, 'nativeSessionId')
}
