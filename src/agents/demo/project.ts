/** The small project that the demo pretends to repair: its files, their changes, and the output of its tests. */

export const PAGINATE = `/** One page of a list. Pages count from 1. */
export function paginate<T>(items: readonly T[], page: number, size: number): T[] {
  const start = page * size
  return items.slice(start, start + size)
}
`

export const PAGINATE_FIXED = PAGINATE.replace('page * size', '(page - 1) * size')

export const PAGINATE_DIFF = `--- a/src/paginate.ts
+++ b/src/paginate.ts
@@ -1,5 +1,5 @@
 /** One page of a list. Pages count from 1. */
 export function paginate<T>(items: readonly T[], page: number, size: number): T[] {
-  const start = page * size
+  const start = (page - 1) * size
   return items.slice(start, start + size)
 }
`

export const FEED = `import { paginate } from '../paginate.ts'
import { posts } from '../posts.ts'

export function feed(query: URLSearchParams) {
  const page = Number(query.get('page') ?? 0)
  return paginate(posts, page, 20)
}
`

export const FEED_FIXED = FEED.replace('page, 20', 'page + 1, 20')

export const FEED_DIFF = `--- a/src/routes/feed.ts
+++ b/src/routes/feed.ts
@@ -3,5 +3,5 @@
 
 export function feed(query: URLSearchParams) {
   const page = Number(query.get('page') ?? 0)
-  return paginate(posts, page, 20)
+  return paginate(posts, page + 1, 20)
 }
`

export const CALLERS = `src/routes/feed.ts:6:  return paginate(posts, page, 20)
src/routes/search.ts:14:  const hits = paginate(found, page, 10)
`

export const TESTS_FAIL = `✖ page 1 is the start of the list (1.2ms)
✖ the last page may be short (0.3ms)
✔ a page beyond the end is empty (0.1ms)
  page 1 is the start of the list:
  + actual - expected
  + [ 'c', 'd' ]
  - [ 'a', 'b' ]
tests 3, pass 1, fail 2
`

export const TESTS_PASS = `✔ page 1 is the start of the list (0.4ms)
✔ the last page may be short (0.1ms)
✔ a page beyond the end is empty (0.1ms)
tests 3, pass 3, fail 0
`

export const ALL_TESTS_PASS = `✔ paginate (3 tests)
✔ feed (4 tests)
✔ search (7 tests)
tests 14, pass 14, fail 0
`
