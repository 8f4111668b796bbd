import { noReply, type ReplyFailure, type ToolReply, type Work } from "./tool-round.ts";

/**
 * Does work in a workspace that may ask for an intent: the first refusal for want of one selects the only one there is and
 * repeats the refused calls. With several, or none, they stay refused, and the refusal says what the user can do.
 * More scope is never asked for here: that is the user's to say.
 */
export function* withIntent<Result>(work: Work<Result>): Work<Result> {
  let next = work.next();
  while (next.done !== true) {
    const round = next.value;
    const replies = [...(yield round)];
    const refused = replies.flatMap(({ failure }, index) => (failure?.code === "intent_required" ? [index] : []));
    const [id, ...others] = offeredIds(replies[refused[0] ?? -1]?.failure);
    if (id !== undefined && others.length === 0) {
      const call = { name: "select_active_intent", args: { intent_id: id } };
      const [selected] = yield { thought: `Selecting the intent ${id}.`, calls: [call] };
      const calls = refused.flatMap((index) => round.calls[index] ?? []);
      const isSelected = selected?.failure === undefined;
      const again = isSelected ? yield { thought: `Trying once more under ${id}.`, calls } : [];
      for (const [place, index] of refused.entries()) replies[index] = again[place] ?? selected ?? noReply;
    }
    next = work.next(replies.map(forTheUser));
  }
  return next.value;
}

/** The ids in `Call select_active_intent first, with one of: A, B.`; a final `…` means that there are more. */
function offeredIds(failure: ReplyFailure | undefined): readonly string[] {
  const [, list] = /with one of: (.+)\.$/.exec(failure?.hint ?? "") ?? [];
  return list?.replace(/ …$/, ", …").split(", ") ?? [];
}

/** Hints are for models that choose their calls; the user chooses the words. */
function forTheUser(reply: ToolReply): ToolReply {
  const { failure } = reply;
  if (failure?.code !== "intent_required") return reply;
  const ids = offeredIds(failure);
  const advice =
    ids.length === 0
      ? "No intent can be selected now; gennai intents list says what to do."
      : `There are several: ${ids.join(", ")}. Select one: \`run --intent ID\`, or \`/intent ID\` at a prompt.`;
  return { ...reply, failure: { ...failure, advice } };
}
