import * as z from 'zod'
import { NoticeRaised } from '../../model/events/report.ts'
import { FileChanged } from '../../model/events/tool.ts'
import { PlanUpdated } from '../../model/events/work.ts'
import { ClosedRequest, OpenRequest } from '../kit/open-request.ts'
import { message } from './unified-message.ts'

/** Types that the document does not have. Clients ignore types that they do not know, or turn these off. */
export const EXTENSIONS: ReadonlySet<string> = new Set([
  'requestOpened',
  'requestClosed',
  'reasoningChunk',
  'planUpdated',
  'fileWritten',
  'noticeRaised',
  'logEntry',
])

/** The agent asks for a decision. */
export const RequestOpenedEvent = message('requestOpened', OpenRequest.shape)
/** A request was decided or withdrawn. */
export const RequestClosedEvent = message('requestClosed', ClosedRequest.shape)
/** A piece of the agent's reasoning. */
export const ReasoningChunkEvent = message('reasoningChunk', {
  content: z.string().describe('The text.'),
  isComplete: z.boolean().describe('True for the last piece of a message.'),
  parent: PlanUpdated.shape.parent,
})
/** The agent's plan (its to-do list). Each event has the whole list. */
export const PlanUpdatedEvent = message('planUpdated', PlanUpdated.omit({ type: true }).shape)
/** A tool wrote a file, and the agent did not report whether the file existed. */
export const FileWrittenEvent = message('fileWritten', {
  filePath: z.string().describe('The path of the file.'),
  ...FileChanged.pick({ toolId: true, diff: true, before: true, after: true }).shape,
})
/** A warning of the agent or of the server. The turn continues. */
export const NoticeRaisedEvent = message('noticeRaised', {
  level: NoticeRaised.shape.level.exclude(['error']).describe('The severity.'),
  message: z.string().describe('What happened.'),
  code: z.string().describe('The code of the notice in camel case.'),
  nativeError: z.string().optional().describe("The agent's own error."),
})
/** An event of the log that this protocol has no type for. */
export const LogEntryEvent = message('logEntry', {
  event: z.record(z.string(), z.unknown()).describe('The event, as in the log.'),
})
