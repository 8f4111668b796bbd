import { refused } from "./change-files.ts";
import { notSelected, select, selectTool } from "./intent-handshake.ts";
import { quote, type Step } from "./request/request.ts";
import { callTool, type StepReport, type Work } from "./rounds/tool-round.ts";

type StepOf<Kind extends Step["kind"]> = Extract<Step, { readonly kind: Kind }>;

export function* useIntent({ id }: StepOf<"use-intent">, tools: ReadonlySet<string>): Work<StepReport> {
  if (!tools.has(selectTool)) {
    return { ok: false, text: `Intents are off in this workspace, so I cannot work under ${id}.` };
  }
  const failure = yield* select(id);
  if (failure !== undefined) return { ok: false, text: notSelected(id, failure) };
  return { ok: true, text: `I work under the intent ${id}.` };
}

export function* requestScope({ paths, reason }: StepOf<"request-scope">): Work<StepReport> {
  const list = paths.join(", ");
  const reply = yield* callTool(`Asking for ${list}.`, "request_scope_expansion", { paths, reason });
  if (reply.failure !== undefined) return refused(`The scope was not extended by ${list}`, reply.failure);
  return { ok: true, text: `The intent owns ${list} now.` };
}

export function* rememberLesson({ lesson }: StepOf<"remember">): Work<StepReport> {
  const reply = yield* callTool("Writing the lesson down.", "record_lesson", { lesson });
  if (reply.failure !== undefined) return refused("I could not write the lesson down", reply.failure);
  return { ok: true, text: `The project's notes have the lesson ${quote(lesson)} now.` };
}
