import { Markdown } from '../text/markdown.tsx'

/** A plan that someone decides about: rendered, with nothing of its text hidden. */
export default function PlanText({ text }: { text: string }) {
  return <Markdown text={text} exact />
}
