import { proposedText } from "@gennai/client/review/proposed-text";
import type { AgentSession } from "@gennai/client/session/agent-session";
import {
  type AppliedFile,
  isBeyondText,
  type Proposal,
  type ProposedChange,
} from "@gennai/protocol/model/session/proposal";
import { applyReview } from "@gennai/protocol/review/apply-review";
import type { ChangeWriter, FinalChange } from "../client/change-writer.ts";
import { CliError } from "../errors/cli-error.ts";
import { exitCode } from "../errors/exit-code.ts";
import type { Decisions } from "./hunk-selection.ts";

/**
 * Tells the server what was decided, writes what was kept as one set, and reports it. Nothing is written unless every file
 * is still as the proposal found it. Throws `CliError`.
 */
export async function applyProposal(
  proposal: Proposal,
  decisions: Decisions,
  options: {
    readonly session: AgentSession;
    readonly writer: ChangeWriter;
    readonly note: string;
    readonly signal: AbortSignal;
  },
): Promise<readonly AppliedFile[]> {
  const { session, writer, note, signal } = options;
  const { proposalId } = proposal;
  const hunks = [...decisions].flatMap(([changeId, ofChange]) =>
    [...ofChange].map(([hunkId, decision]) => ({ changeId, hunkId, decision })),
  );
  if (proposal.changes.some((change) => isBeyondText(change) && isKept(decisions.get(change.id)))) {
    const expectedBases = new Map(proposal.changes.map(({ path, baseSha256 }) => [path, baseSha256]));
    const applied = await session.applyProposal({ proposalId, hunks, note, expectedBases }, { signal });
    return applied.files;
  }
  const changes: FinalChange[] = [];
  for (const change of proposal.changes) {
    const ofChange = decisions.get(change.id) ?? new Map();
    if (!isKept(ofChange)) continue;
    const final = await reviewedChange(change, ofChange, options);
    if (final !== undefined) changes.push(final);
  }
  // Only now: a proposal is reviewed once, and a file that moved on can still be left out.
  await session.submitReview({ proposalId, hunks, note }, { signal });
  if (changes.length === 0) return [];
  const files = await writer.write(changes).catch((error: unknown) => {
    const reason = error instanceof Error ? error.message : String(error);
    throw new CliError(`Nothing was applied: ${reason}`, {
      next: ["Ask for the change again; it will be made on the new text."],
      cause: error,
    });
  });
  await session.reportApplied({ proposalId, files, error: "" }, { signal });
  return files;
}

function isKept(
  decisions: Decisions extends ReadonlyMap<string, infer OfChange> ? OfChange | undefined : never,
): boolean {
  return [...(decisions?.values() ?? [])].some(({ type }) => type !== "undo");
}

async function reviewedChange(
  change: ProposedChange,
  decisions: Parameters<typeof applyReview>[3],
  options: { readonly session: AgentSession; readonly writer: ChangeWriter; readonly signal: AbortSignal },
): Promise<FinalChange | undefined> {
  const { path, operation, baseSha256 } = change;
  const base = await options.writer.base(path);
  if (change.conflict || (base?.sha256 ?? "") !== baseSha256) {
    throw new CliError(`Nothing was applied: ${path} is no longer as the proposal found it. ${change.warning}`.trim(), {
      exitCode: exitCode.failed,
      next: [`Ask for the change again, or leave this file out with --refuse ${path}`],
    });
  }
  const newText = operation === "delete" ? undefined : await proposedText(change, options);
  const reviewed = applyReview(base?.text, newText, change, decisions);
  switch (reviewed.type) {
    case "unchanged":
      return undefined;
    case "delete":
      return { operation: "delete", path, baseSha256 };
    case "write":
      return base === undefined
        ? { operation: "create", path, text: reviewed.text }
        : { operation: "update", path, text: reviewed.text, baseSha256 };
  }
}
