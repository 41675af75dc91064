import { homedir, hostname } from 'node:os'

/** A recording without what belongs to the machine it was made on: places, ports, its name, keys. */
export function redacted(text: string, scratch: string): string {
  const plain: readonly (readonly [string, string])[] = [
    [`${scratch}/work`, '/workspace'],
    [`${scratch}/home`, '/home/user'],
    [scratch, '/scratch'],
    [process.cwd(), '/mainstem'],
    [homedir(), '/home/user'],
    [hostname(), 'host'],
  ]
  return plain
    .reduce((said, [from, to]) => said.replaceAll(from, to), text)
    .replaceAll(/\b(127\.0\.0\.1|localhost):\d+/g, '$1:4711')
    .replaceAll(/\b(sk-|Bearer\s+)[\w.-]{8,}/g, '$1redacted')
}
