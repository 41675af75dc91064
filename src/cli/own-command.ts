/** How to call this program again: npx in a checkout, where `mainstem` is not in the path. For commands to copy. */
export const MAINSTEM = process.env.npm_command === 'exec' ? 'npx mainstem' : 'mainstem'
