import type { AgentSession } from "@gennai/client/session/agent-session";
import type { Proposal } from "@gennai/protocol/model/session/proposal";
import { plural } from "@gennai/protocol/plural";
import { type DecidedHunk, decisionsByChange } from "@gennai/protocol/whole-moves";
import type { Paint } from "../terminal/colours.ts";
import type { LineInput } from "../terminal/line-input.ts";
import { decideBySelection, namedHunks } from "./hunk-selection.ts";
import { describeProposal, reviewAtTerminal } from "./review-at-terminal.ts";

/** How hunks are decided: by these, else by the person at the terminal. */
export interface ReviewFlags {
  /** Everything is kept that is not refused. */
  readonly yes?: boolean;
  readonly keep?: readonly string[];
  readonly refuse?: readonly string[];
}

interface ReviewOptions {
  readonly session: AgentSession;
  /** undefined: nobody can be asked. */
  readonly input: Pick<LineInput, "question" | "suspend"> | undefined;
  readonly write: (text: string) => void;
  readonly paint: Paint;
  readonly environment: NodeJS.ProcessEnv;
  readonly signal: AbortSignal;
}

/** What happened to a proposal. */
export interface ReviewResult {
  readonly proposalId: string;
  /** Names such as `src/a.ts#2`. */
  readonly kept: readonly string[];
  readonly undone: readonly string[];
  /** True if nobody decided; nothing was sent or written, and it can still be reviewed. */
  readonly undecided: boolean;
  readonly files: readonly string[];
}

/** Reviews one after the other. Rejects like `reviewProposal`. */
export async function reviewProposals(
  proposals: readonly Proposal[],
  flags: ReviewFlags,
  options: ReviewOptions,
): Promise<readonly ReviewResult[]> {
  const results: ReviewResult[] = [];
  for (const proposal of proposals) results.push(await reviewProposal(proposal, flags, options));
  return results;
}

/** Shows a proposal, asks for decisions, and has the server apply what is kept. Rejects with its error if nothing was written. */
export async function reviewProposal(
  proposal: Proposal,
  flags: ReviewFlags,
  options: ReviewOptions,
): Promise<ReviewResult> {
  options.write(`\n${describeProposal(proposal, options.paint)}`);
  const hunks = namedHunks(proposal);
  const decisions = await decide(proposal, flags, options);
  if (decisions === undefined) {
    options.write("Nothing was applied.\n");
    return { proposalId: proposal.proposalId, kept: [], undone: [], undecided: true, files: [] };
  }
  const names = (isKept: boolean) =>
    hunks
      .filter((_hunk, index) => ((decisions[index]?.decision.type ?? "undo") !== "undo") === isKept)
      .map(({ name }) => name);
  const { proposalId, changes } = proposal;
  const decided = [...decisionsByChange(changes, decisions)].flatMap(([changeId, ofChange]) =>
    [...ofChange].map(([hunkId, decision]) => ({ changeId, hunkId, decision })),
  );
  const review = { proposalId, hunks: decided, note: "", changes };
  const { files } = await options.session.applyProposal(review, { signal: options.signal });
  const kept = names(true);
  options.write(
    files.length === 0
      ? "Nothing was applied.\n"
      : `Applied ${kept.length} of ${plural(hunks.length, "hunk")} to ${files.map(({ path }) => path).join(", ")}.\n`,
  );
  return {
    proposalId,
    kept,
    undone: names(false),
    undecided: false,
    files: files.map(({ path }) => path),
  };
}

async function decide(
  proposal: Proposal,
  { keep = [], refuse = [], yes = false }: ReviewFlags,
  options: ReviewOptions,
): Promise<readonly DecidedHunk[] | undefined> {
  if (keep.length > 0 || refuse.length > 0 || yes) return decideBySelection(proposal, { keep, refuse });
  if (options.input !== undefined) return reviewAtTerminal(proposal, { ...options, input: options.input });
  options.write(
    "Nobody can be asked here: review with a terminal, or decide by --yes, --keep HUNK or --refuse HUNK.\n",
  );
  return undefined;
}
