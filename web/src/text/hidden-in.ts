import { showHidden } from './hidden.ts'

/** Shows hidden characters in every text below a node. */
export function showHiddenIn(root: Node, exact = false): void {
  for (const node of textNodes(root)) {
    const shown = showHidden(node.data, exact)
    if (shown !== node.data) node.data = shown
  }
}

function textNodes(root: Node): Text[] {
  const found: Text[] = []
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT)
  for (let node = walker.nextNode(); node; node = walker.nextNode())
    if (node instanceof Text) found.push(node)
  return found
}
