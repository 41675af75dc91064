/** JSON keeps the two apart whatever characters they hold. */
export function receiptId(scope: string, key: string): string {
  return JSON.stringify([scope, key])
}
