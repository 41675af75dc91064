/** The default limit of text per read; a single entry may be larger. */
export const READ_BYTES = 1024 * 1024

/** The default limit of text per page of records. */
export const RECORD_BYTES = 4 * 1024 * 1024

/** The size of the pieces of a blob. */
export const BLOB_PIECE = 256 * 1024

/** How many of these fit into `maxBytes`; at least one. */
export function fitting<T>(items: readonly T[], sizeOf: (item: T) => number, maxBytes: number): number {
  let bytes = 0
  for (const [index, item] of items.entries()) {
    bytes += sizeOf(item)
    if (bytes > maxBytes && index > 0) return index
  }
  return items.length
}
