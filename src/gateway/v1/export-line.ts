import * as z from 'zod'
import { Entry, SessionRecord } from '../../model/index.ts'
import { named } from '../http/openapi/components.ts'
import { RawFrameJson } from './frames.ts'

/** The parts of a blob are in order, and before the first entry that refers to it. */
const BlobPartJson = named(
  'BlobPart',
  z.strictObject({
    id: z.string().min(1).max(128),
    bytes: z.int().nonnegative().describe('the size of the whole blob'),
    at: z.int().nonnegative().describe('the place of this part: how many bytes are before it'),
    data: z.base64().describe('the bytes of this part'),
  }),
)

/** One line of an exported session. */
export const ExportLineJson = named(
  'ExportLine',
  z.union([
    z.strictObject({ record: SessionRecord }),
    z.strictObject({ entry: Entry }),
    z.strictObject({ frame: RawFrameJson }),
    z.strictObject({ blob: BlobPartJson }),
    z.strictObject({
      end: z.strictObject({
        entries: z.int(),
        frames: z.int(),
        sha256: z.string().describe('of all lines before, each with its line feed'),
      }),
    }),
  ]),
)
export type ExportLineJson = z.infer<typeof ExportLineJson>

const FIELDS = Object.keys(SessionRecord.shape)

/** The record with its fields in the order of the schema, so that equal records give equal lines. */
export function inOrder(record: SessionRecord): SessionRecord {
  return Object.assign(Object.fromEntries(FIELDS.map((field) => [field, undefined])), record)
}
