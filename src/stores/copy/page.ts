/** The text of a page; a single row may be larger. */
export const PAGE_BYTES = 4 * 1024 * 1024
/** The rows of a page. */
export const PAGE_ROWS = 1_000

/** Groups rows into pages by size. */
export function* pagesOf<T>(rows: Iterable<T>, sizeOf: (row: T) => number): Generator<T[]> {
  let page: T[] = []
  let bytes = 0
  for (const row of rows) {
    page.push(row)
    bytes += sizeOf(row)
    if (bytes < PAGE_BYTES && page.length < PAGE_ROWS) continue
    yield page
    page = []
    bytes = 0
  }
  if (page.length > 0) yield page
}
