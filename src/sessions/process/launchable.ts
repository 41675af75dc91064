import type { Launch, LaunchRecipe, Start } from '../../agents/agent.ts'
import { Approval, MainstemError, Sandbox } from '../../model/index.ts'

/** The launch of a recipe. If the agent cannot enforce the policy, the error names what it can enforce. */
export function launchable(recipe: LaunchRecipe, start: Start): Launch {
  try {
    return recipe.launch(start)
  } catch (thrown) {
    if (!(thrown instanceof MainstemError) || thrown.code !== 'unsupported_option') throw thrown
    const advice = thrown.details?.advice === undefined ? alternatives(recipe, start) : undefined
    if (advice === undefined) throw thrown
    throw new MainstemError(thrown.code, thrown.message, { ...thrown.details, advice }, { cause: thrown })
  }
}

/** Undefined if no other approval and no other sandbox would be accepted, so the refusal has another reason. */
function alternatives(recipe: LaunchRecipe, start: Start): string | undefined {
  const { approval, sandbox } = start.policy
  const sandboxes = Sandbox.options.filter((other) => isAccepted(recipe, start, { approval, sandbox: other }))
  const approvals = Approval.options.filter((other) =>
    isAccepted(recipe, start, { approval: other, sandbox }),
  )
  const parts = [
    ...(sandboxes.length > 0
      ? [`With approval ${approval}, it accepts the sandbox ${listed(sandboxes)}.`]
      : []),
    ...(approvals.length > 0
      ? [`With sandbox ${sandbox}, it accepts the approval ${listed(approvals)}.`]
      : []),
  ]
  return parts.length === 0 ? undefined : parts.join(' ')
}

function isAccepted(
  recipe: LaunchRecipe,
  start: Start,
  changes: Pick<Start['policy'], 'approval' | 'sandbox'>,
): boolean {
  try {
    recipe.launch({ ...start, policy: { ...start.policy, ...changes } })
    return true
  } catch {
    // A launch that is refused is no alternative.
    return false
  }
}

const listed = (words: readonly string[]) =>
  words.length === 1 ? words.join() : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`
