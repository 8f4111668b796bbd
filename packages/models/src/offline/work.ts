import { adviceForPeople } from "@gennai/protocol/errors/advice-for-people";
import { parsedJson } from "@gennai/protocol/json-value";
import { z } from "zod";

export interface Call {
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
}

/** What came back for a call. A failure without a code is of a tool that ran, and said so in its output. */
export interface Reply {
  readonly output: string;
  readonly failure?: { readonly code: string; readonly message: string; readonly hint?: string | undefined };
}

/**
 * Work that needs tools: it yields calls and is handed their replies, in the same order. Nothing else may influence it, so that
 * it can be played again from the conversation.
 */
export type Work<Result> = Generator<readonly Call[], Result, readonly Reply[]>;

export const noReply: Reply = { output: "", failure: { code: "no_result", message: "The call has no result." } };

export function* call(name: string, args: Call["args"]): Work<Reply> {
  const [reply] = yield [{ name, args }];
  return reply ?? noReply;
}

const callsOfAnswer = 10;

/** Calls many, some at a time. */
export function* callAll(calls: readonly Call[]): Work<readonly Reply[]> {
  const replies: Reply[] = [];
  for (let at = 0; at < calls.length; at += callsOfAnswer) replies.push(...(yield calls.slice(at, at + callsOfAnswer)));
  return replies;
}

const errorSchema = z.object({
  error: z.object({ code: z.string(), message: z.string(), hint: z.string().optional() }),
});

export function replyOf(output: string, isError: boolean): Reply {
  if (!isError) return { output };
  const { data } = errorSchema.safeParse(parsedJson(output));
  const message = output.trim().split("\n", 1).join() || "The tool failed.";
  return { output, failure: data?.error ?? { code: "", message } };
}

/** `message (code)` and what the user can do, on one line. */
export function failureWords(failure: NonNullable<Reply["failure"]>): string {
  const { code, message } = failure;
  const ids = code === "intent_required" ? intentsIn(failure) : undefined;
  const which = ids === undefined ? "" : ` There are several: ${ids}.`;
  return `${message}${code === "" ? "" : ` (${code})`}${which} ${adviceForPeople(failure) ?? ""}`
    .replaceAll(/\s+/g, " ")
    .trim();
}

/** The ids in `Call select_active_intent first, with one of: A, B.` */
function intentsIn({ hint = "" }: NonNullable<Reply["failure"]>): string | undefined {
  return /with one of: (.+)\.$/.exec(hint)?.[1];
}

/**
 * The same work where only some tools are offered, and where changes may need an intent: if there is just one, it is selected and
 * the calls are repeated. More scope is never asked for: that is the user's to say.
 */
export function* within<Result>(work: Work<Result>, offered: ReadonlySet<string>): Work<Result> {
  let next = work.next();
  while (next.done !== true) {
    const calls = next.value;
    const missing = calls.find(({ name }) => !offered.has(name));
    if (missing !== undefined) {
      const message = `This scenario does not offer ${missing.name}. Choose another one, e.g. CODE.`;
      next = work.next(calls.map(() => ({ output: "", failure: { code: "", message } })));
      continue;
    }
    let replies = yield calls;
    const refused = replies.find(({ failure }) => failure?.code === "intent_required");
    const id = refused?.failure && intentsIn(refused.failure);
    if (id !== undefined && !id.includes(",")) {
      yield [{ name: "select_active_intent", args: { intent_id: id } }];
      replies = yield calls;
    }
    next = work.next(replies);
  }
  return next.value;
}
