import type { RecordedWrite } from "./matching/recorded-write.ts";

/** What of a write may go along with a commit, besides its lines' numbers and hashes. Prompts and answers never go along. */
export const sharedParts = ["model", "intent", "decision", "verification", "call", "session", "people"] as const;

export type SharedPart = (typeof sharedParts)[number];

/** What goes along when nothing is chosen: nothing that names a person, a session or a tool's call. */
export const usualParts: readonly SharedPart[] = ["model", "intent", "decision", "verification"];

export const partWords: Readonly<Record<SharedPart, string>> = {
  model: "which model or agent wrote, e.g. anthropic/claude-…",
  intent: "the id of the intent that was worked under",
  decision: "how it was let happen: no rule asked, by which rule, with a yes, in a review, by a plan",
  verification: "whether the result was looked at",
  call: "the name of the tool and the id of its call",
  session: "the ids of session and turn",
  people: "the name of who said yes",
};

/** A write as others may know it: what was not chosen is not there. That a person did it is always told, as whose kind the lines are. */
export function sharedWrite(write: RecordedWrite, parts: ReadonlySet<SharedPart>): RecordedWrite {
  const { decision } = write;
  return {
    seq: write.seq,
    recordId: write.recordId,
    time: write.time,
    path: write.path,
    operation: write.operation,
    beforeSha256: undefined,
    afterSha256: undefined,
    blocks: [],
    sessionId: parts.has("session") ? write.sessionId : "",
    turnId: parts.has("session") ? write.turnId : "",
    call: parts.has("call") ? write.call : undefined,
    model: parts.has("model") ? write.model : "",
    agent: parts.has("model") ? write.agent : undefined,
    intent: parts.has("intent") ? write.intent : undefined,
    decision:
      !parts.has("decision") && decision.type !== "person"
        ? { type: "untold" }
        : decision.type === "approved" && !parts.has("people")
          ? { ...decision, by: "" }
          : decision,
    verification: parts.has("verification") ? write.verification : "untold",
    isUndo: write.isUndo,
    edited: [],
  };
}
