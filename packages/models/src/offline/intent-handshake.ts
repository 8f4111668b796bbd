import { describeFailure, type ReplyFailure, type ToolReply } from "./rounds/tool-replies.ts";
import { noReply, type ToolRequest, type Work } from "./rounds/tool-round.ts";

export const selectTool = "select_active_intent";

/** Refusals for want of an intent. */
const wantsIntent: ReadonlySet<string> = new Set(["intent_required", "invalid_intent"]);

/**
 * Does work in a workspace that may ask for an intent: the first refusal for want of one selects the only one there is and
 * repeats the refused calls once. With several, or none, they stay refused, and the refusal says what the user can do.
 * More scope is never asked for here: that is the user's to say.
 */
export function* withIntent<Result>(work: Work<Result>, tools: ReadonlySet<string>): Work<Result> {
  let selected = false;
  let next = work.next();
  while (next.done !== true) {
    const { calls } = next.value;
    const replies = [...(yield next.value)];
    const refused = calls.flatMap((call, index) => (lacksIntent(call, replies[index]) ? [index] : []));
    const failure = replies[refused[0] ?? -1]?.failure;
    if (failure !== undefined && tools.has(selectTool)) {
      const [id, ...others] = offeredIds(failure.hint);
      if (id !== undefined && others.length === 0 && !selected) {
        selected = true;
        const problem = yield* select(id);
        const again = refused.flatMap((index) => calls[index] ?? []);
        const repeated: readonly ToolReply[] =
          problem === undefined
            ? yield { thought: `Trying once more under ${id}.`, calls: again }
            : again.map(() => ({ output: "", failure: problem }));
        for (const [place, index] of refused.entries()) replies[index] = repeated[place] ?? noReply;
      }
    }
    next = work.next(replies.map(forTheUser));
  }
  return next.value;
}

/** Selects an intent; gives why that failed, if it did. */
export function* select(id: string): Work<ReplyFailure | undefined> {
  const [reply] = yield {
    thought: `Selecting the intent ${id}.`,
    calls: [{ name: selectTool, args: { intent_id: id } }],
  };
  return (reply ?? noReply).failure;
}

function lacksIntent(call: ToolRequest, reply: ToolReply | undefined): boolean {
  return call.name !== selectTool && wantsIntent.has(reply?.failure?.code ?? "");
}

/** The ids in `Call select_active_intent first, with one of: A, B.`; a final `…` means that there are more. */
function offeredIds(hint: string | undefined): readonly string[] {
  const [, list] = /with one of: (.+)\.$/.exec(hint ?? "") ?? [];
  if (list === undefined) return [];
  const ids = list.replace(/ …$/, "").split(", ");
  return list.endsWith(" …") ? [...ids, "…"] : ids;
}

/** Hints are for models that choose their calls; the user chooses the words. */
function forTheUser(reply: ToolReply): ToolReply {
  const { failure } = reply;
  if (failure === undefined) return reply;
  if (wantsIntent.has(failure.code)) {
    const ids = offeredIds(failure.hint);
    return { ...reply, failure: { ...failure, advice: intentAdvice(ids) } };
  }
  if (failure.code !== "scope_violation") return reply;
  return { ...reply, failure: { ...failure, advice: "Say: request scope for PATHS because REASON" } };
}

function intentAdvice(ids: readonly string[]): string {
  const [first] = ids;
  if (first === undefined) return "No intent can be selected now; gennai intents list says what to do.";
  return ids.length === 1
    ? `Say: use intent ${first} then …`
    : `There are several: ${ids.join(", ")}. Say which one, e.g.: use intent ${first} then …`;
}

/** Why an intent was not selected, in words for the user. */
export function notSelected(id: string, failure: ReplyFailure): string {
  return `I could not select the intent ${id}: ${describeFailure(forTheUser({ output: "", failure }).failure ?? failure)}`;
}
