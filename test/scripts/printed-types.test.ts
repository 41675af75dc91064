import { describe, expect, it } from 'vitest'
import type * as z from 'zod'
import { SCHEMAS } from '../../scripts/schema-modules.ts'
import type * as openRequest from '../../src/dialects/kit/open-request.ts'
import type * as openRequestTypes from '../../src/dialects/kit/open-request.types.ts'
import type * as usagePartial from '../../src/dialects/kit/usage-partial.ts'
import type * as usagePartialTypes from '../../src/dialects/kit/usage-partial.types.ts'
import type * as uesEvent from '../../src/dialects/ues/ues-event.ts'
import type * as uesEventTypes from '../../src/dialects/ues/ues-event.types.ts'
import type * as unifiedConfig from '../../src/dialects/unified/unified-config.ts'
import type * as unifiedConfigTypes from '../../src/dialects/unified/unified-config.types.ts'
import type * as unifiedEvent from '../../src/dialects/unified/unified-event.ts'
import type * as unifiedEventTypes from '../../src/dialects/unified/unified-event.types.ts'
import type * as unifiedExtension from '../../src/dialects/unified/unified-extension.ts'
import type * as unifiedExtensionTypes from '../../src/dialects/unified/unified-extension.types.ts'
import type * as access from '../../src/model/access.ts'
import type * as accessTypes from '../../src/model/access.types.ts'
import type * as blob from '../../src/model/blob.ts'
import type * as blobTypes from '../../src/model/blob.types.ts'
import type * as entry from '../../src/model/entry.ts'
import type * as entryTypes from '../../src/model/entry.types.ts'
import type * as event from '../../src/model/event.ts'
import type * as eventTypes from '../../src/model/event.types.ts'
import type * as messageEvents from '../../src/model/events/message.ts'
import type * as messageEventsTypes from '../../src/model/events/message.types.ts'
import type * as reportEvents from '../../src/model/events/report.ts'
import type * as reportEventsTypes from '../../src/model/events/report.types.ts'
import type * as requestEvents from '../../src/model/events/request.ts'
import type * as requestEventsTypes from '../../src/model/events/request.types.ts'
import type * as sessionEvents from '../../src/model/events/session.ts'
import type * as sessionEventsTypes from '../../src/model/events/session.types.ts'
import type * as toolEvents from '../../src/model/events/tool.ts'
import type * as toolEventsTypes from '../../src/model/events/tool.types.ts'
import type * as turnEvents from '../../src/model/events/turn.ts'
import type * as turnEventsTypes from '../../src/model/events/turn.types.ts'
import type * as workEvents from '../../src/model/events/work.ts'
import type * as workEventsTypes from '../../src/model/events/work.types.ts'
import type * as ids from '../../src/model/ids.ts'
import type * as idsTypes from '../../src/model/ids.types.ts'
import type * as errors from '../../src/model/outcome/errors.ts'
import type * as errorsTypes from '../../src/model/outcome/errors.types.ts'
import type * as outcome from '../../src/model/outcome/outcome.ts'
import type * as outcomeTypes from '../../src/model/outcome/outcome.types.ts'
import type * as command from '../../src/model/request/command.ts'
import type * as commandTypes from '../../src/model/request/command.types.ts'
import type * as request from '../../src/model/request/request.ts'
import type * as requestTypes from '../../src/model/request/request.types.ts'
import type * as tool from '../../src/model/request/tool.ts'
import type * as toolTypes from '../../src/model/request/tool.types.ts'
import type * as capability from '../../src/model/session/capability.ts'
import type * as capabilityTypes from '../../src/model/session/capability.types.ts'
import type * as contextUsage from '../../src/model/session/context-usage.ts'
import type * as contextUsageTypes from '../../src/model/session/context-usage.types.ts'
import type * as continuation from '../../src/model/session/continuation.ts'
import type * as continuationTypes from '../../src/model/session/continuation.types.ts'
import type * as coverage from '../../src/model/session/coverage.ts'
import type * as coverageTypes from '../../src/model/session/coverage.types.ts'
import type * as newSession from '../../src/model/session/new-session.ts'
import type * as newSessionTypes from '../../src/model/session/new-session.types.ts'
import type * as options from '../../src/model/session/options.ts'
import type * as optionsTypes from '../../src/model/session/options.types.ts'
import type * as policy from '../../src/model/session/policy.ts'
import type * as policyTypes from '../../src/model/session/policy.types.ts'
import type * as record from '../../src/model/session/record.ts'
import type * as recordTypes from '../../src/model/session/record.types.ts'
import type * as usage from '../../src/model/usage.ts'
import type * as usageTypes from '../../src/model/usage.types.ts'
import type * as webhook from '../../src/model/webhook.ts'
import type * as webhookTypes from '../../src/model/webhook.types.ts'

/** Requires an argument that cannot exist if the two types differ. */
type Proof<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? [] : [never]

/** Does not compile if the printed type differs from the type of the schema. */
function same<Printed, Schema extends z.ZodType>(name: string, ..._proof: Proof<Printed, z.infer<Schema>>) {
  return name
}

const checked = [
  same<accessTypes.Actor, typeof access.Actor>('Actor'),
  same<accessTypes.AuditAction, typeof access.AuditAction>('AuditAction'),
  same<accessTypes.AuditRecord, typeof access.AuditRecord>('AuditRecord'),
  same<accessTypes.Grant, typeof access.Grant>('Grant'),
  same<accessTypes.Role, typeof access.Role>('Role'),
  same<continuationTypes.Continuation, typeof continuation.Continuation>('Continuation'),
  same<continuationTypes.ContinuationCaps, typeof continuation.ContinuationCaps>('ContinuationCaps'),
  same<continuationTypes.ContinuationCount, typeof continuation.ContinuationCount>('ContinuationCount'),
  same<continuationTypes.OnLimit, typeof continuation.OnLimit>('OnLimit'),
  same<recordTypes.UsedUpLimit, typeof record.UsedUpLimit>('UsedUpLimit'),
  same<contextUsageTypes.ContextUsage, typeof contextUsage.ContextUsage>('ContextUsage'),
  same<optionsTypes.SubagentDefinition, typeof options.SubagentDefinition>('SubagentDefinition'),
  same<sessionEventsTypes.FormerAgent, typeof sessionEvents.FormerAgent>('FormerAgent'),
  same<sessionEventsTypes.SessionHandedOver, typeof sessionEvents.SessionHandedOver>('SessionHandedOver'),
  same<recordTypes.HandedOver, typeof record.HandedOver>('HandedOver'),
  same<commandTypes.HandOverCommand, typeof command.HandOverCommand>('HandOverCommand'),
  same<commandTypes.RenameCommand, typeof command.RenameCommand>('RenameCommand'),
  same<continuationTypes.ContinueAs, typeof continuation.ContinueAs>('ContinueAs'),
  same<optionsTypes.Variables, typeof options.Variables>('Variables'),
  same<capabilityTypes.Verb, typeof capability.Verb>('Verb'),
  same<blobTypes.BlobRef, typeof blob.BlobRef>('BlobRef'),
  same<capabilityTypes.Capabilities, typeof capability.Capabilities>('Capabilities'),
  same<capabilityTypes.LaunchKind, typeof capability.LaunchKind>('LaunchKind'),
  same<commandTypes.AnswerCommand, typeof command.AnswerCommand>('AnswerCommand'),
  same<commandTypes.BoundAnswer, typeof command.BoundAnswer>('BoundAnswer'),
  same<commandTypes.RequestAnswer, typeof command.RequestAnswer>('RequestAnswer'),
  same<commandTypes.Applied, typeof command.Applied>('Applied'),
  same<commandTypes.CloseCommand, typeof command.CloseCommand>('CloseCommand'),
  same<commandTypes.Command, typeof command.Command>('Command'),
  same<commandTypes.InterruptCommand, typeof command.InterruptCommand>('InterruptCommand'),
  same<commandTypes.OpenCommand, typeof command.OpenCommand>('OpenCommand'),
  same<commandTypes.PromptCommand, typeof command.PromptCommand>('PromptCommand'),
  same<commandTypes.SetModelCommand, typeof command.SetModelCommand>('SetModelCommand'),
  same<commandTypes.SetPolicyCommand, typeof command.SetPolicyCommand>('SetPolicyCommand'),
  same<commandTypes.SteerCommand, typeof command.SteerCommand>('SteerCommand'),
  same<coverageTypes.Coverage, typeof coverage.Coverage>('Coverage'),
  same<entryTypes.Entry, typeof entry.Entry>('Entry'),
  same<errorsTypes.ErrorCode, typeof errors.ErrorCode>('ErrorCode'),
  same<errorsTypes.ErrorInfo, typeof errors.ErrorInfo>('ErrorInfo'),
  same<eventTypes.Event, typeof event.Event>('Event'),
  same<messageEventsTypes.MessageDiscarded, typeof messageEvents.MessageDiscarded>('MessageDiscarded'),
  same<messageEventsTypes.TextCompleted, typeof messageEvents.TextCompleted>('TextCompleted'),
  same<messageEventsTypes.TextDelta, typeof messageEvents.TextDelta>('TextDelta'),
  same<messageEventsTypes.ThinkingCompleted, typeof messageEvents.ThinkingCompleted>('ThinkingCompleted'),
  same<messageEventsTypes.ThinkingDelta, typeof messageEvents.ThinkingDelta>('ThinkingDelta'),
  same<reportEventsTypes.ContextCompacted, typeof reportEvents.ContextCompacted>('ContextCompacted'),
  same<reportEventsTypes.LimitReported, typeof reportEvents.LimitReported>('LimitReported'),
  same<reportEventsTypes.NativeUnmapped, typeof reportEvents.NativeUnmapped>('NativeUnmapped'),
  same<reportEventsTypes.NoticeCode, typeof reportEvents.NoticeCode>('NoticeCode'),
  same<reportEventsTypes.NoticeRaised, typeof reportEvents.NoticeRaised>('NoticeRaised'),
  same<reportEventsTypes.OutputWritten, typeof reportEvents.OutputWritten>('OutputWritten'),
  same<reportEventsTypes.UsageReported, typeof reportEvents.UsageReported>('UsageReported'),
  same<requestEventsTypes.RequestOpened, typeof requestEvents.RequestOpened>('RequestOpened'),
  same<requestEventsTypes.RequestResolved, typeof requestEvents.RequestResolved>('RequestResolved'),
  same<requestEventsTypes.RequestWithdrawn, typeof requestEvents.RequestWithdrawn>('RequestWithdrawn'),
  same<sessionEventsTypes.ConfigOption, typeof sessionEvents.ConfigOption>('ConfigOption'),
  same<sessionEventsTypes.Named, typeof sessionEvents.Named>('Named'),
  same<sessionEventsTypes.SessionEnded, typeof sessionEvents.SessionEnded>('SessionEnded'),
  same<sessionEventsTypes.SessionStarted, typeof sessionEvents.SessionStarted>('SessionStarted'),
  same<sessionEventsTypes.SessionUpdated, typeof sessionEvents.SessionUpdated>('SessionUpdated'),
  same<toolEventsTypes.FileChanged, typeof toolEvents.FileChanged>('FileChanged'),
  same<toolEventsTypes.ToolCompleted, typeof toolEvents.ToolCompleted>('ToolCompleted'),
  same<toolEventsTypes.ToolInputDelta, typeof toolEvents.ToolInputDelta>('ToolInputDelta'),
  same<toolEventsTypes.ToolProgressed, typeof toolEvents.ToolProgressed>('ToolProgressed'),
  same<toolEventsTypes.ToolStarted, typeof toolEvents.ToolStarted>('ToolStarted'),
  same<toolEventsTypes.ToolUpdated, typeof toolEvents.ToolUpdated>('ToolUpdated'),
  same<turnEventsTypes.TurnCompleted, typeof turnEvents.TurnCompleted>('TurnCompleted'),
  same<turnEventsTypes.TurnExit, typeof turnEvents.TurnExit>('TurnExit'),
  same<turnEventsTypes.TurnQueued, typeof turnEvents.TurnQueued>('TurnQueued'),
  same<turnEventsTypes.TurnStarted, typeof turnEvents.TurnStarted>('TurnStarted'),
  same<turnEventsTypes.TurnSteered, typeof turnEvents.TurnSteered>('TurnSteered'),
  same<workEventsTypes.HookCompleted, typeof workEvents.HookCompleted>('HookCompleted'),
  same<workEventsTypes.HookStarted, typeof workEvents.HookStarted>('HookStarted'),
  same<workEventsTypes.PlanItem, typeof workEvents.PlanItem>('PlanItem'),
  same<workEventsTypes.PlanUpdated, typeof workEvents.PlanUpdated>('PlanUpdated'),
  same<workEventsTypes.SubagentCompleted, typeof workEvents.SubagentCompleted>('SubagentCompleted'),
  same<workEventsTypes.SubagentProgressed, typeof workEvents.SubagentProgressed>('SubagentProgressed'),
  same<workEventsTypes.SubagentStarted, typeof workEvents.SubagentStarted>('SubagentStarted'),
  same<idsTypes.NativeSessionId, typeof ids.NativeSessionId>('NativeSessionId'),
  same<idsTypes.SessionId, typeof ids.SessionId>('SessionId'),
  same<idsTypes.SessionName, typeof ids.SessionName>('SessionName'),
  same<newSessionTypes.NewSession, typeof newSession.NewSession>('NewSession'),
  same<optionsTypes.Image, typeof options.Image>('Image'),
  same<optionsTypes.Isolation, typeof options.Isolation>('Isolation'),
  same<optionsTypes.McpServer, typeof options.McpServer>('McpServer'),
  same<optionsTypes.ModeName, typeof options.ModeName>('ModeName'),
  same<optionsTypes.ModelName, typeof options.ModelName>('ModelName'),
  same<optionsTypes.SessionHooks, typeof options.SessionHooks>('SessionHooks'),
  same<optionsTypes.SessionOptions, typeof options.SessionOptions>('SessionOptions'),
  same<optionsTypes.SystemPrompt, typeof options.SystemPrompt>('SystemPrompt'),
  same<optionsTypes.ToolHook, typeof options.ToolHook>('ToolHook'),
  same<outcomeTypes.Outcome, typeof outcome.Outcome>('Outcome'),
  same<policyTypes.Approval, typeof policy.Approval>('Approval'),
  same<policyTypes.Policy, typeof policy.Policy>('Policy'),
  same<policyTypes.Sandbox, typeof policy.Sandbox>('Sandbox'),
  same<policyTypes.ToolPolicy, typeof policy.ToolPolicy>('ToolPolicy'),
  same<recordTypes.DeliveredTurns, typeof record.DeliveredTurns>('DeliveredTurns'),
  same<recordTypes.QueuedPrompt, typeof record.QueuedPrompt>('QueuedPrompt'),
  same<recordTypes.SessionRecord, typeof record.SessionRecord>('SessionRecord'),
  same<requestTypes.Answers, typeof request.Answers>('Answers'),
  same<requestTypes.Author, typeof request.Author>('Author'),
  same<requestTypes.ClientKind, typeof request.ClientKind>('ClientKind'),
  same<requestTypes.Decider, typeof request.Decider>('Decider'),
  same<requestTypes.Decision, typeof request.Decision>('Decision'),
  same<requestTypes.Question, typeof request.Question>('Question'),
  same<requestTypes.QuestionOption, typeof request.QuestionOption>('QuestionOption'),
  same<requestTypes.RequestKind, typeof request.RequestKind>('RequestKind'),
  same<requestTypes.RequestOption, typeof request.RequestOption>('RequestOption'),
  same<requestTypes.Scope, typeof request.Scope>('Scope'),
  same<toolTypes.DeniedBy, typeof tool.DeniedBy>('DeniedBy'),
  same<toolTypes.Location, typeof tool.Location>('Location'),
  same<toolTypes.ToolKind, typeof tool.ToolKind>('ToolKind'),
  same<toolTypes.ToolStatus, typeof tool.ToolStatus>('ToolStatus'),
  same<usageTypes.Usage, typeof usage.Usage>('Usage'),
  same<openRequestTypes.AnswerRoute, typeof openRequest.AnswerRoute>('AnswerRoute'),
  same<openRequestTypes.ClosedRequest, typeof openRequest.ClosedRequest>('ClosedRequest'),
  same<openRequestTypes.OpenRequest, typeof openRequest.OpenRequest>('OpenRequest'),
  same<uesEventTypes.AgentEvent, typeof uesEvent.AgentEvent>('AgentEvent'),
  same<uesEventTypes.DoneEvent, typeof uesEvent.DoneEvent>('DoneEvent'),
  same<uesEventTypes.DonePayload, typeof uesEvent.DonePayload>('DonePayload'),
  same<uesEventTypes.DoneUsage, typeof uesEvent.DoneUsage>('DoneUsage'),
  same<uesEventTypes.ErrorEvent, typeof uesEvent.ErrorEvent>('ErrorEvent'),
  same<uesEventTypes.ErrorPayload, typeof uesEvent.ErrorPayload>('ErrorPayload'),
  same<uesEventTypes.ExtensionEvent, typeof uesEvent.ExtensionEvent>('ExtensionEvent'),
  same<uesEventTypes.InitEvent, typeof uesEvent.InitEvent>('InitEvent'),
  same<uesEventTypes.InitPayload, typeof uesEvent.InitPayload>('InitPayload'),
  same<uesEventTypes.PermissionRequestEvent, typeof uesEvent.PermissionRequestEvent>(
    'PermissionRequestEvent',
  ),
  same<uesEventTypes.PermissionRequestPayload, typeof uesEvent.PermissionRequestPayload>(
    'PermissionRequestPayload',
  ),
  same<uesEventTypes.TextDeltaEvent, typeof uesEvent.TextDeltaEvent>('TextDeltaEvent'),
  same<uesEventTypes.TextDeltaPayload, typeof uesEvent.TextDeltaPayload>('TextDeltaPayload'),
  same<uesEventTypes.TextEvent, typeof uesEvent.TextEvent>('TextEvent'),
  same<uesEventTypes.TextPayload, typeof uesEvent.TextPayload>('TextPayload'),
  same<uesEventTypes.ThinkingEvent, typeof uesEvent.ThinkingEvent>('ThinkingEvent'),
  same<uesEventTypes.ThinkingPayload, typeof uesEvent.ThinkingPayload>('ThinkingPayload'),
  same<uesEventTypes.ToolResultEvent, typeof uesEvent.ToolResultEvent>('ToolResultEvent'),
  same<uesEventTypes.ToolResultPayload, typeof uesEvent.ToolResultPayload>('ToolResultPayload'),
  same<uesEventTypes.ToolUseEvent, typeof uesEvent.ToolUseEvent>('ToolUseEvent'),
  same<uesEventTypes.ToolUsePayload, typeof uesEvent.ToolUsePayload>('ToolUsePayload'),
  same<unifiedEventTypes.AgentEvent, typeof unifiedEvent.AgentEvent>('AgentEvent'),
  same<unifiedConfigTypes.ApprovalMode, typeof unifiedConfig.ApprovalMode>('ApprovalMode'),
  same<unifiedEventTypes.ErrorEvent, typeof unifiedEvent.ErrorEvent>('ErrorEvent'),
  same<unifiedEventTypes.FileChangedEvent, typeof unifiedEvent.FileChangedEvent>('FileChangedEvent'),
  same<unifiedExtensionTypes.FileWrittenEvent, typeof unifiedExtension.FileWrittenEvent>('FileWrittenEvent'),
  same<unifiedExtensionTypes.LogEntryEvent, typeof unifiedExtension.LogEntryEvent>('LogEntryEvent'),
  same<unifiedExtensionTypes.NoticeRaisedEvent, typeof unifiedExtension.NoticeRaisedEvent>(
    'NoticeRaisedEvent',
  ),
  same<unifiedExtensionTypes.PlanUpdatedEvent, typeof unifiedExtension.PlanUpdatedEvent>('PlanUpdatedEvent'),
  same<unifiedExtensionTypes.ReasoningChunkEvent, typeof unifiedExtension.ReasoningChunkEvent>(
    'ReasoningChunkEvent',
  ),
  same<unifiedExtensionTypes.RequestClosedEvent, typeof unifiedExtension.RequestClosedEvent>(
    'RequestClosedEvent',
  ),
  same<unifiedExtensionTypes.RequestOpenedEvent, typeof unifiedExtension.RequestOpenedEvent>(
    'RequestOpenedEvent',
  ),
  same<unifiedConfigTypes.SandboxMode, typeof unifiedConfig.SandboxMode>('SandboxMode'),
  same<unifiedConfigTypes.SessionConfig, typeof unifiedConfig.SessionConfig>('SessionConfig'),
  same<unifiedEventTypes.SessionEndedEvent, typeof unifiedEvent.SessionEndedEvent>('SessionEndedEvent'),
  same<unifiedEventTypes.SessionStartedEvent, typeof unifiedEvent.SessionStartedEvent>('SessionStartedEvent'),
  same<unifiedEventTypes.TextChunkEvent, typeof unifiedEvent.TextChunkEvent>('TextChunkEvent'),
  same<unifiedConfigTypes.TokenUsage, typeof unifiedConfig.TokenUsage>('TokenUsage'),
  same<unifiedEventTypes.ToolCompletedEvent, typeof unifiedEvent.ToolCompletedEvent>('ToolCompletedEvent'),
  same<unifiedEventTypes.ToolFailedEvent, typeof unifiedEvent.ToolFailedEvent>('ToolFailedEvent'),
  same<unifiedEventTypes.ToolProgressEvent, typeof unifiedEvent.ToolProgressEvent>('ToolProgressEvent'),
  same<unifiedEventTypes.ToolStartedEvent, typeof unifiedEvent.ToolStartedEvent>('ToolStartedEvent'),
  same<unifiedEventTypes.TurnCompletedEvent, typeof unifiedEvent.TurnCompletedEvent>('TurnCompletedEvent'),
  same<unifiedEventTypes.TurnFailedEvent, typeof unifiedEvent.TurnFailedEvent>('TurnFailedEvent'),
  same<unifiedEventTypes.TurnStartedEvent, typeof unifiedEvent.TurnStartedEvent>('TurnStartedEvent'),
  same<usagePartialTypes.UsagePartial, typeof usagePartial.UsagePartial>('UsagePartial'),
  same<webhookTypes.DeliveryStatus, typeof webhook.DeliveryStatus>('DeliveryStatus'),
  same<webhookTypes.NewWebhook, typeof webhook.NewWebhook>('NewWebhook'),
  same<webhookTypes.PushKeys, typeof webhook.PushKeys>('PushKeys'),
  same<webhookTypes.Webhook, typeof webhook.Webhook>('Webhook'),
  same<webhookTypes.WebhookData, typeof webhook.WebhookData>('WebhookData'),
  same<webhookTypes.WebhookDelivery, typeof webhook.WebhookDelivery>('WebhookDelivery'),
  same<webhookTypes.WebhookEvent, typeof webhook.WebhookEvent>('WebhookEvent'),
  same<webhookTypes.WebhookKind, typeof webhook.WebhookKind>('WebhookKind'),
  same<webhookTypes.WebhookPayload, typeof webhook.WebhookPayload>('WebhookPayload'),
]

describe('printed types', () => {
  it('equal the inferred types, for every schema', () => {
    expect(checked.sort()).toEqual(SCHEMAS.map(({ name }) => name).sort())
  })

  it('have a doc comment', () => {
    expect(SCHEMAS.filter(({ doc }) => doc === undefined).map(({ name }) => name)).toEqual([])
  })
})
