import { isRecord } from "@gennai/protocol/json-value";
import { actWords } from "@gennai/protocol/model/governance/act-words";
import type { TimelineRecord } from "./timeline-record.ts";

/** A record as one line. */
export function recordWords({ calls, paths, decided, purged }: TimelineRecord): string {
  if (purged) return "content purged";
  const said = calls.map(({ tool, input }) => `${tool} ${input}`.trim());
  if (said.length > 0) {
    const what = said.length > 1 ? `${said[0]} and ${said.length - 1} more` : (said[0] ?? "");
    // A command's line does not say which files it changed.
    const changed = paths.filter((path) => !what.includes(path));
    return changed.length === 0 ? what : `${what} → ${namesOf(changed)}`;
  }
  return namesOf(paths) || decided;
}

/** What people decided, as far as the record's details are known here; else empty. */
export function decisionWords(details: Readonly<Record<string, unknown>>): string {
  const act = actWords(details);
  if (act !== "") return act;
  const { firstCommit, branch, how, files, intent, plan, background, command, review } = details;
  if (typeof firstCommit === "string") return `first commit, ${String(files)} files`;
  if (typeof branch === "string") return `branch ${branch}${how === "created" ? " made" : ""}`;
  if (isRecord(plan)) return `plan approved by ${String(plan["approved_by"])}`;
  if (typeof background === "string") return `in the background ${background}: ${String(command)}`;
  if (isRecord(review)) return reviewWords(review);
  if (typeof intent === "string") return `intent ${intent}`;
  return "";
}

/** What a record is, for people. In the ledger, `intent` is what a call was about to do, not one of the intents file. */
export function kindWords({ kind, end }: Pick<TimelineRecord, "kind" | "end">): string {
  if (kind === "outcome" && end !== "done") return end;
  return kind === "intent" ? "starts" : kind;
}

export function namesOf(paths: readonly string[]): string {
  return paths.length > 3 ? `${paths.slice(0, 3).join(", ")} and ${paths.length - 3} more` : paths.join(", ");
}

function reviewWords({ hunks }: Readonly<Record<string, unknown>>): string {
  const decisions = (Array.isArray(hunks) ? hunks : []).map((hunk: unknown) =>
    isRecord(hunk) ? hunk["decision"] : undefined,
  );
  const parts = [
    ["kept", "keep"],
    ["refused", "undo"],
    ["edited", "edited"],
  ].map(([word, decision]) => [word, decisions.filter((each) => each === decision).length] as const);
  return parts
    .filter(([, count]) => count > 0)
    .map(([word, count]) => `${count} ${word}`)
    .join(", ");
}
