/** The task that the script of the demo answers. */
export const DEMO_PROMPT = 'The product list skips its first page. Find out why and fix it.'
