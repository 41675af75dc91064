import type { LaunchKind, Policy, SessionOptions } from '../../src/model/index.ts'

/** One row of the protocol document's tables of arguments and modes: what it means here, and what is started for it. */
export interface DocumentedFlag {
  /** The section, and the row as it is printed. */
  row: string
  agent: string
  launch: LaunchKind
  policy?: Partial<Policy>
  options?: SessionOptions
  resume?: string
  /** Words that a launch has for it and would not have without it. */
  adds?: readonly string[]
  /** Words that every launch has. */
  always?: readonly string[]
  /** It cannot be had, and this is the reason. */
  refused?: string
  /** Held by the session, from outside: the launch is the same without it. */
  outside?: true
}

const ID = '0199a213-81c0-7800-8aa1-bbab2a035a53'
const hook: SessionOptions = { hooks: { beforeToolCall: { command: ['./scripts/approve-tool.sh'] } } }
const schema: SessionOptions = { outputSchema: { type: 'object' } }
const server = (rest: object): SessionOptions => ({ mcpServers: { mine: { command: 'server', ...rest } } })
const full: Partial<Policy> = { approval: 'auto-all', sandbox: 'full-access' }

const claude = { agent: 'claude' } as const
const BYPASS = ['--dangerously-skip-permissions', 'IS_SANDBOX=1']

/** 3.6 and 3.7. */
const claudeRows: readonly DocumentedFlag[] = [
  { ...claude, row: '3.6 --resume <session-id>', launch: 'oneshot', resume: ID, adds: [`--resume=${ID}`] },
  { ...claude, row: '3.6 --resume <session-id>', launch: 'live', resume: ID, adds: [`--resume=${ID}`] },
  {
    ...claude,
    row: '3.6 --dangerously-skip-permissions',
    launch: 'oneshot',
    policy: { approval: 'auto-all' },
    adds: BYPASS,
  },
  {
    ...claude,
    row: '3.6 --allowedTools <list>',
    launch: 'live',
    policy: { tools: { preapproved: ['Read', 'Bash(git:*)'] } },
    adds: ['--allowedTools=Read,Bash(git:*)'],
  },
  {
    ...claude,
    row: '3.6 --model <model>',
    launch: 'live',
    options: { model: 'opus' },
    adds: ['--model=opus'],
  },
  {
    ...claude,
    row: '3.6 --max-turns <n>',
    launch: 'oneshot',
    policy: { maxSteps: 7 },
    adds: ['--max-turns=7'],
  },
  { ...claude, row: '3.7 Default (ask)', launch: 'live', always: ['--permission-mode=default'] },
  { ...claude, row: '3.7 dangerouslySkipPermissions', launch: 'live', policy: full, adds: BYPASS },
  {
    ...claude,
    row: '3.7 Allowlist',
    launch: 'oneshot',
    policy: { tools: { preapproved: ['Read'] } },
    adds: ['--allowedTools=Read'],
  },
  { ...claude, row: '3.7 hooks.beforeToolCall', launch: 'live', options: hook, outside: true },
]

const codex = { agent: 'codex' } as const

/** 4.5 and 4.6. */
const codexRows: readonly DocumentedFlag[] = [
  { ...codex, row: '4.5 exec', launch: 'oneshot', always: ['exec'] },
  { ...codex, row: '4.5 --output-jsonl (really --json)', launch: 'oneshot', always: ['--json'] },
  {
    ...codex,
    row: '4.5 --output-schema <file>',
    launch: 'oneshot',
    options: schema,
    adds: ['--output-schema=<schema.json>', '<schema.json> = {"type":"object"}'],
  },
  // With each prompt, by the protocol.
  { ...codex, row: '4.5 --output-schema <file>', launch: 'live', options: schema, outside: true },
  { ...codex, row: '4.5 --ask-for-approval', launch: 'live', always: ['approvalPolicy: untrusted'] },
  {
    ...codex,
    row: '4.5 --model <name>',
    launch: 'oneshot',
    options: { model: 'gpt-5' },
    adds: ['--model=gpt-5'],
  },
  {
    ...codex,
    row: '4.5 --model <name>',
    launch: 'live',
    options: { model: 'gpt-5' },
    adds: ['model: gpt-5'],
  },
  {
    ...codex,
    row: '4.5 --full-auto',
    launch: 'oneshot',
    policy: full,
    adds: ['--dangerously-bypass-approvals-and-sandbox'],
  },
  // The variables of a session go to the process itself.
  { ...codex, row: '4.5 --env KEY=val', launch: 'oneshot', options: { env: { KEY: 'val' } }, outside: true },
  { ...codex, row: '4.5 resume', launch: 'oneshot', resume: ID, adds: ['resume', ID] },
  {
    ...codex,
    row: '4.6 never',
    launch: 'live',
    policy: { approval: 'auto-all' },
    adds: ['approvalPolicy: never'],
  },
  {
    ...codex,
    row: '4.6 on-request',
    launch: 'live',
    policy: { approval: 'ask-dangerous', sandbox: 'workspace-write' },
    adds: ['approvalPolicy: on-request', 'sandbox: workspace-write'],
  },
  {
    ...codex,
    row: '4.6 on-failure (gone; the nearest is on-request)',
    launch: 'live',
    policy: { approval: 'auto-edit', sandbox: 'workspace-write' },
    adds: ['approvalPolicy: on-request', 'sandbox: workspace-write'],
  },
  { ...codex, row: '4.6 untrusted', launch: 'live', always: ['approvalPolicy: untrusted'] },
  {
    ...codex,
    row: '4.6 read-only',
    launch: 'oneshot',
    policy: { sandbox: 'read-only' },
    adds: ['--sandbox=read-only'],
  },
  {
    ...codex,
    row: '4.6 workspace-write',
    launch: 'oneshot',
    policy: { sandbox: 'workspace-write' },
    adds: ['--sandbox=workspace-write'],
  },
  {
    ...codex,
    row: '4.6 danger-full-access',
    launch: 'live',
    policy: full,
    adds: ['sandbox: danger-full-access', 'approvalPolicy: never'],
  },
  {
    ...codex,
    row: '4.6 network_access, writable_roots',
    launch: 'oneshot',
    policy: { sandbox: 'workspace-write', network: false, writableRoots: ['/extra/path'] },
    adds: [
      '--sandbox=workspace-write',
      '--config=sandbox_workspace_write.network_access=false',
      '--config=sandbox_workspace_write.writable_roots=["/extra/path"]',
    ],
  },
]

const gemini = { agent: 'gemini' } as const
const IN_FILES = 'it reads this from a settings file only'
const NOT_BY_PROTOCOL = 'the protocol cannot trust or filter the tools of one server'

/** 5.4 to 5.6. */
const geminiRows: readonly DocumentedFlag[] = [
  {
    ...gemini,
    row: '5.4 --output-format stream-json',
    launch: 'oneshot',
    always: ['--output-format=stream-json'],
  },
  { ...gemini, row: '5.4 --approval-mode default', launch: 'oneshot', always: ['--approval-mode=default'] },
  { ...gemini, row: '5.5 default', launch: 'live', always: ['mode default'] },
  {
    ...gemini,
    row: '5.4 --auto-edit',
    launch: 'oneshot',
    policy: { approval: 'auto-edit' },
    adds: ['--approval-mode=auto_edit'],
  },
  {
    ...gemini,
    row: '5.5 auto_edit',
    launch: 'live',
    policy: { approval: 'auto-edit' },
    adds: ['mode autoEdit'],
  },
  {
    ...gemini,
    row: '5.4 --yolo',
    launch: 'oneshot',
    policy: { approval: 'auto-all' },
    adds: ['--approval-mode=yolo'],
  },
  { ...gemini, row: '5.5 yolo', launch: 'live', policy: { approval: 'auto-all' }, adds: ['mode yolo'] },
  {
    ...gemini,
    row: '5.4 --sandbox',
    launch: 'oneshot',
    policy: { sandbox: 'workspace-write' },
    refused: 'its sandbox needs a container image',
  },
  {
    ...gemini,
    row: '5.4 --model <name>',
    launch: 'oneshot',
    options: { model: 'gemini-3-pro' },
    adds: ['--model=gemini-3-pro'],
  },
  { ...gemini, row: '5.4 --resume', launch: 'oneshot', resume: ID, adds: [`--resume=${ID}`] },
  {
    ...gemini,
    row: '5.4 --allowed-tools <list>',
    launch: 'oneshot',
    policy: { tools: { preapproved: ['read_file'] } },
    adds: ['--allowed-tools=read_file'],
  },
  { ...gemini, row: '5.5 trust', launch: 'oneshot', options: server({ trust: true }), refused: IN_FILES },
  { ...gemini, row: '5.5 trust', launch: 'live', options: server({ trust: true }), refused: NOT_BY_PROTOCOL },
  {
    ...gemini,
    row: '5.5 includeTools, excludeTools',
    launch: 'live',
    options: server({ includeTools: ['safe_tool'], excludeTools: ['dangerous_tool'] }),
    refused: NOT_BY_PROTOCOL,
  },
  {
    ...gemini,
    row: '5.6 checkpointing',
    launch: 'oneshot',
    options: { checkpointing: true },
    refused: IN_FILES,
  },
]

/** 6.4: a behaviour, and each program's word for it. */
const mappingRows: readonly DocumentedFlag[] = [
  { ...claude, row: '6.4 Ask for everything', launch: 'live', always: ['--permission-mode=default'] },
  { ...codex, row: '6.4 Ask for everything', launch: 'live', always: ['approvalPolicy: untrusted'] },
  { ...gemini, row: '6.4 Ask for everything', launch: 'live', always: ['mode default'] },
  // The rest is answered for the user, by the kind of the tool.
  {
    ...claude,
    row: '6.4 Ask for dangerous only',
    launch: 'live',
    policy: { approval: 'ask-dangerous' },
    outside: true,
  },
  {
    ...gemini,
    row: '6.4 Ask for dangerous only',
    launch: 'live',
    policy: { approval: 'ask-dangerous' },
    outside: true,
  },
  {
    ...claude,
    row: '6.4 Auto-approve file edits',
    launch: 'live',
    policy: { approval: 'auto-edit' },
    adds: ['--permission-mode=acceptEdits'],
  },
  {
    ...codex,
    row: '6.4 Auto-approve file edits',
    launch: 'live',
    policy: { approval: 'auto-edit' },
    refused: 'it supports auto-edit only in workspace-write',
  },
  {
    ...claude,
    row: '6.4 Sandbox execution',
    launch: 'live',
    policy: { sandbox: 'workspace-write' },
    refused: 'it has no such sandbox',
  },
  {
    ...codex,
    row: '6.4 Sandbox execution',
    launch: 'live',
    policy: { sandbox: 'workspace-write' },
    adds: ['sandbox: workspace-write'],
  },
  // Without a sandbox there is none to switch off.
  {
    ...claude,
    row: '6.4 Full system access',
    launch: 'live',
    policy: { sandbox: 'full-access' },
    outside: true,
  },
  {
    ...gemini,
    row: '6.4 Full system access',
    launch: 'oneshot',
    policy: { sandbox: 'full-access' },
    outside: true,
  },
  {
    ...codex,
    row: '6.4 Full system access',
    launch: 'live',
    policy: { sandbox: 'full-access' },
    adds: ['sandbox: danger-full-access'],
  },
]

export const DOCUMENTED: readonly DocumentedFlag[] = [
  ...claudeRows,
  ...codexRows,
  ...geminiRows,
  ...mappingRows,
]
