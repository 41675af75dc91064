/**
 * Whether one principal may hold `own` of a limited resource while `free` of it is left: at most three times what is
 * left. One principal alone gets three quarters of it, two get three sevenths each, and there is always a rest for the
 * next one.
 */
export function isFairShare(own: number, free: number): boolean {
  return own <= 3 * free
}
