import type { TracedOrigin, TracedRun, TracedWrite, WriteDecision } from "@gennai/protocol/model/governance/line-trace";

// Names in these come from records, and so from models and repositories: the code that shows them makes them harmless for that place.

/** Who wrote it: a model in a session, or a person. */
export function writerWords(
  write: Pick<TracedWrite, "agent" | "model" | "call" | "turnId" | "sessionId" | "decision">,
): string {
  const who = write.agent !== undefined ? `agent ${write.agent}` : write.model !== "" ? `agent ${write.model}` : "";
  const call = write.call === undefined ? "" : `, call ${write.call.id} (${write.call.tool})`;
  const turn = write.turnId === "" ? "" : `, turn ${write.turnId.slice(0, 8)}`;
  const session = write.sessionId === "" ? "" : ` in session ${write.sessionId.slice(0, 8)}${turn}${call}`;
  if (who !== "") return `${who}${session}`;
  return write.decision.type === "person" ? `a person${session}` : `the agent${session}`;
}

/** Who wrote it, as short as possible. */
export function shortWriterWords({
  agent,
  model,
  decision,
}: Pick<TracedWrite, "agent" | "model" | "decision">): string {
  return agent ?? (model !== "" ? model : decision.type === "person" ? "a person" : "the agent");
}

/** Who allowed it. */
export function decisionWords(decision: WriteDecision): string {
  switch (decision.type) {
    case "allowed":
      return decision.rule === "" ? "no rule asked" : `let run by ${decision.rule}`;
    case "approved":
      return `${decision.by || "somebody"} said yes${decision.rule === "" ? "" : `, as ${decision.rule} asked`}`;
    case "reviewed": {
      const counts = [`${decision.kept} kept`, `${decision.refused} refused`, `${decision.edited} edited`];
      return `kept by a person in the review of proposal ${decision.proposalId.slice(0, 8)} (${counts.join(", ")})`;
    }
    case "planned":
      return `step ${decision.step} of a plan that a person approved`;
    case "person":
      return "done by a person";
    case "untold":
      return "not told";
  }
}

export const verificationWords = {
  verified: "the result is as expected",
  unverified: "not verified",
  failed: "the result is not as expected",
  untold: "not told",
} as const;

export const methodWords: Readonly<Record<Extract<TracedOrigin, { type: "recorded" }>["method"], string>> = {
  "same-file": "the whole file is as it was recorded",
  "same-lines": "by its text, among its neighbours",
  formatted: "by its text without white space",
  rewrapped: "by its characters, in other lines",
  "block-hash": "by the recorded hash of the block",
};

export const unknownWords = {
  outside: "it was there before, or somebody else wrote it since",
  ambiguous: "several calls, or a person in a review, may have written it",
  "not-recorded": "nothing recorded is like it",
} as const;

/** `2026-11-25 14:03 UTC`. */
export function whenWords(time: string): string {
  return `${time.slice(0, 16).replace("T", " ")} UTC`;
}

/** The run that has a line, counted from 1. */
export function runOfLine(runs: readonly TracedRun[], line: number): TracedRun | undefined {
  return runs.find(({ firstLine, lineCount }) => line >= firstLine && line < firstLine + lineCount);
}
