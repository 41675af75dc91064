/** JSON separates the two unambiguously. */
export function receiptId(scope: string, key: string): string {
  return JSON.stringify([scope, key])
}
