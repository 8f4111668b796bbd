import type { Effect } from "../../effect.ts";
import { keyCommand, namedKey } from "../../keys/key-command.ts";
import type { Policy } from "../../policy.ts";
import { allow, ask, deny, strictest, type Verdict } from "../../verdict.ts";

/**
 * A login of the user's is used for one run, by a yes to exactly that: it names the command, the host and the login, and is asked
 * for every time. What needs one has to be a command of its own, so that nothing runs beside it that could take it; the last ones
 * of a plain chain become such commands.
 */
export function createKeysPolicy(): Policy {
  return {
    name: "keys",
    kind: "guard",
    decide: ({ analysis }) => strictest([allow, ...analysis.effects.map(verdictOf)]),
  };
}

function verdictOf(effect: Effect): Verdict {
  // What a command wants to read besides is asked about with all that it wants to reach.
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
