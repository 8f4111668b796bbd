import {
  type BaseFile,
  type HunkDecisions,
  isKept,
  isStale,
  type ReviewedChange,
  reviewedChange,
} from "@gennai/client/review/reviewed-change";
import type { AgentSession } from "@gennai/client/session/agent-session";
import { errorMessage } from "@gennai/protocol/error-message";
import {
  type AppliedFile,
  isBeyondText,
  type Proposal,
  type ProposedChange,
} from "@gennai/protocol/model/session/proposal";
import { wholeMoves } from "@gennai/protocol/review/whole-moves";
import type { ChangeWriter } from "../client/change-writer.ts";
import { CliError } from "../errors/cli-error.ts";
import { exitCode } from "../errors/exit-code.ts";
import type { Decisions } from "./hunk-selection.ts";

/**
 * Sends the decisions to the server, writes what was kept as one set, and reports it. Nothing is written unless every file is
 * still as the proposal found it. Throws `CliError`.
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
  const whole = wholeMoves(proposal.changes, decisions);
  const decisionsOn = ({ id }: ProposedChange): HunkDecisions => whole.get(id) ?? new Map();
  const hunks = [...whole].flatMap(([changeId, ofChange]) =>
    [...ofChange].map(([hunkId, decision]) => ({ changeId, hunkId, decision })),
  );
  if (proposal.changes.some((change) => isBeyondText(change) && isKept(decisionsOn(change)))) {
    const expectedBases = new Map(proposal.changes.map(({ path, baseSha256 }) => [path, baseSha256]));
    const applied = await session.applyProposal({ proposalId, hunks, note, expectedBases }, { signal });
    return applied.files;
  }
  const changes: ReviewedChange[] = [];
  for (const change of proposal.changes) {
    const ofChange = decisionsOn(change);
    if (!isKept(ofChange)) continue;
    const final = await reviewedChange(change, await freshBase(change, writer), ofChange, options);
    if (final !== undefined) changes.push(final);
  }
  // Only now: a proposal is reviewed once, and until then a file that has changed meanwhile can be left out.
  await session.submitReview({ proposalId, hunks, note }, { signal });
  if (changes.length === 0) return [];
  const files = await writer.write(changes).catch((error: unknown) => {
    throw new CliError(`Nothing was applied: ${errorMessage(error)}`, {
      next: ["Ask for the change again; it will be made on the new text."],
      cause: error,
    });
  });
  await session.reportApplied({ proposalId, files, error: "" }, { signal });
  return files;
}

async function freshBase(change: ProposedChange, writer: ChangeWriter): Promise<BaseFile | undefined> {
  const { path } = change;
  const base = await writer.base(path);
  if (!isStale(change, base)) return base;
  throw new CliError(`Nothing was applied: ${path} is no longer as the proposal found it. ${change.warning}`.trim(), {
    exitCode: exitCode.failed,
    next: [`Ask for the change again, or leave this file out with --refuse ${path}`],
  });
}
