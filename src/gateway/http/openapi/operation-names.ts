import { MainstemError } from '../../../model/index.ts'

/**
 * Operation ids, which generated clients use as method names. They are part of the API and stay when a path or a
 * summary changes.
 */
const NAMES: Readonly<Record<string, string>> = {
  'GET /healthz': 'checkAlive',
  'GET /readyz': 'checkReady',
  'POST /v1/execute': 'execute',
  'POST /rpc': 'callMethod',
  'GET /v1/agents': 'listAgents',
  'POST /v1/sessions': 'createSession',
  'GET /v1/sessions': 'listSessions',
  'GET /v1/sessions/:id': 'getSession',
  'DELETE /v1/sessions/:id': 'deleteSession',
  'POST /v1/sessions/:id/turns': 'sendPrompt',
  'DELETE /v1/sessions/:id/turns/:turn': 'removePrompt',
  'POST /v1/sessions/:id/steer': 'steerTurn',
  'POST /v1/sessions/:id/model': 'changeModel',
  'POST /v1/sessions/:id/mode': 'changeMode',
  'POST /v1/sessions/:id/interrupt': 'interruptTurn',
  'POST /v1/sessions/:id/end': 'endSession',
  'POST /v1/sessions/:id/fork': 'forkSession',
  'POST /v1/sessions/:id/compact': 'compactSession',
  'POST /v1/sessions/:id/review': 'reviewChanges',
  'POST /v1/sessions/:id/goal': 'setGoal',
  'POST /v1/sessions/:id/rewind': 'rewindFiles',
  'GET /v1/sessions/:id/events': 'followSession',
  'GET /v1/sessions/:id/export': 'exportSession',
  'POST /v1/sessions/import': 'importSession',
  'GET /v1/sessions/:id/coverage': 'getCoverage',
  'GET /v1/sessions/:id/frames': 'listFrames',
  'GET /v1/events': 'followAll',
  'GET /v1/requests': 'listRequests',
  'POST /v1/sessions/:id/requests/:requestId': 'answerRequest',
  'GET /v1/nodes': 'listNodes',
  'GET /v1/usage': 'getUsage',
  'GET /v1/audit': 'listAudit',
  'GET /v1/search': 'searchEntries',
  'GET /v1/files': 'findFiles',
  'GET /v1/blobs/:session/:id': 'getBlob',
  'POST /v1/tickets': 'createTicket',
  'POST /v1/logins': 'addLogin',
  'GET /v1/logins': 'listLogins',
  'DELETE /v1/logins/:id': 'removeLogin',
  'POST /api/sessions': 'createBoardSession',
  'GET /api/sessions': 'listBoardSessions',
  'GET /api/sessions/:id': 'getBoardSession',
  'POST /api/sessions/:id/cancel': 'cancelBoardSession',
  'GET /api/sessions/:id/events': 'listBoardEvents',
  'GET /ws/sessions/:id': 'openBoardSocket',
  'GET /metrics': 'getMetrics',
  'GET /schemas/:name': 'getSchema',
  'GET /schemas/:agent/:name': 'getAgentSchema',
  'GET /openapi.json': 'getOpenApi',
  'GET /docs': 'getReference',
  'GET /': 'getPage',
  'GET /assets/:name': 'getPageFile',
  'POST /v1/sign-in': 'signIn',
  'POST /v1/sign-out': 'signOut',
  'GET /v1/server': 'getServer',
}

export function operationName({ method, url }: { method: string; url: string }): string {
  const name = NAMES[`${method} ${url}`]
  if (name === undefined) throw new MainstemError('unknown', `${method} ${url} has no name`)
  return name
}
