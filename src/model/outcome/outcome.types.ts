// Generated from the schemas by `npm run schemas`; edit the schemas, not this file.

/** How a turn ended. Only `completed` is a success. */
export type Outcome =
  | 'completed'
  | 'denied'
  | 'refused'
  | 'max_steps'
  | 'max_budget'
  | 'timeout'
  | 'interrupted'
  | 'failed'
  | 'crashed'
  | 'lost'
