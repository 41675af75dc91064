import { dropped as ofProtocol } from '../protocols/acp/ignored-fields.ts'

/** What Gemini says and no event carries: a field by its name, or `type/role` for a whole frame. */
export const dropped: Readonly<Record<string, string>> = {
  ...ofProtocol,
  type: 'what kind of frame it is, which the event says in its own words',
  role: 'who speaks is in the type of the event',
  status: 'how a call or the turn ended is in its status or its outcome',
  timestamp: 'the log stamps every entry itself',
  'message/user': 'our own prompt, said back',
}
