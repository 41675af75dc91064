import { type Sums, sumsBy } from '../tables.ts'

/** The checksums of this database. A row contributes the number of its session, by which it is found. */
export const SUMS = {
  ...sumsBy('n'),
  session: {
    record_sum: {
      what: 'the record',
      of: ['n', 'session', 'asking', 'principal', 'status', 'record'],
      part: 'record',
    },
    edge_sum: { what: 'the beginning of the log', of: ['n', 'earliest', 'earliest_frame', 'queued'] },
    lease_sum: { what: 'the lease', of: ['n', 'fence', 'owner'] },
    tail_sum: { what: 'the end of the log', of: ['n', 'head', 'at', 'journaled', 'counted'], part: 'ends' },
    heard_sum: {
      what: 'the coverage',
      of: ['n', 'last_frame', 'frames', 'mapped', 'unmapped', 'malformed', 'oversized'],
      part: 'last_frame',
    },
  },
  /** `content` is the checksum of the file. */
  blob: { sum: { what: 'blob', of: ['n', 'content', 'id'] } },
  audit: { sum: { what: 'the audit trail', of: ['at', 'id', 'principal', 'action', 'session', 'body'] } },
  receipt: { sum: { what: 'an idempotency key', of: ['at', 'id', 'session', 'body'] } },
} as const satisfies Sums
