import type { Effect } from "../../effect.ts";
import { keyCommand, namedKey } from "../../keys/key-command.ts";
import type { Policy } from "../../policy.ts";
import { allow, ask, deny, strictest, type Verdict } from "../../verdict.ts";

/**
 * A user's login is used for one run, after a yes to exactly that: the question names command, host and login, and is asked
 * every time. A command that needs a login must be a separate call, so that nothing else runs that could steal it; the last
 * commands of a plain chain become such calls.
 */
export function createKeysPolicy(): Policy {
  return {
    name: "keys",
    kind: "guard",
    decide: ({ analysis }) => strictest([allow, ...analysis.effects.map(verdictOf)]),
  };
}

function verdictOf(effect: Effect): Verdict {
  // Reading access of a command is asked about together with everything else it wants to reach.
  if (effect.type === "net" && effect.login !== undefined && effect.wanted === undefined) {
    return ask({
      code: "key_needs_confirmation",
      rule: "keys/use",
      reason: `For this one run, ${effect.url} can be reached, with ${effect.login}. Nothing of the workspace runs in it.`,
    });
  }
  if (effect.type !== "exec" || effect.staged !== true || effect.behind !== undefined) return allow;
  if (keyCommand(effect.command.text) !== undefined) return allow;
  const named = namedKey(effect.command.commands);
  if (named === undefined) return allow;
  return deny({
    code: "key_command_not_alone",
    rule: "keys/alone",
    reason: `${named.what} needs a login of the user's, which is given to nothing else: it has to be a command of its own, written out, without other commands, variables, pipes or files around it; only others before it, joined by &&, may be.`,
    hint: `Run it by itself, as: ${named.form}. What belongs before or behind it are calls of their own; another directory goes into cwd.`,
  });
}
