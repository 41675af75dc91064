import { type Sums, sumsBy } from '../tables.ts'
import { COUNTERS } from './session-sum.ts'

/**
 * The checksums of this database. A row contributes the id of its session, because the database assigns the number of the
 * session in the statement that adds the row.
 */
export const SUMS = {
  ...sumsBy('session'),
  session: {
    sum: { what: COUNTERS, of: ['expected_sum'], isComputed: true },
    record_sum: {
      what: 'the record',
      of: ['session', 'asking', 'principal', 'status', 'record'],
      part: 'record',
    },
  },
  /** `content` is the checksum of the parts. A blob is stored before an entry refers to it, which makes it a session's. */
  blob: {
    sum: { what: 'blob', of: ['bytes', 'content', 'id'] },
    owner_sum: { what: 'blob', of: ['session', 'id'], part: 'n' },
  },
  /** The database decides when a key was stored. */
  receipt: {
    sum: { what: 'an idempotency key', of: ['id', 'session', 'body'] },
    at_sum: { what: 'an idempotency key', of: ['expected_at_sum'], isComputed: true },
  },
  /** The database decides when a row was stored. */
  audit: {
    sum: { what: 'the audit trail', of: ['id', 'principal', 'action', 'session', 'body'] },
    at_sum: { what: 'the audit trail', of: ['expected_at_sum'], isComputed: true },
  },
} as const satisfies Sums
