import type { CallRunner } from "@gennai/governance/gate/decide/call-runner";
import type { GovernedTools } from "@gennai/governance/gate/gate";
import type { Analysis, CallContext, ExecutionContext, Tool, ToolOutcome } from "@gennai/governance/tool";
import { whatRuns } from "@gennai/machine/workspace/what-runs";
import type { Workspace } from "@gennai/machine/workspace/workspace";
import type { BackgroundRuns } from "../background/background-runs.ts";
import type { RepositoryChecks } from "../context/accept-check.ts";
import { type LookAfterEdit, mostFiles } from "../context/edit-checks.ts";
import type { ProposalReader } from "../proposal/proposal-reader.ts";
import type { SessionProposal } from "../proposal/session-proposal.ts";
import type { TurnCheckpoints } from "../restore/turn-checkpoints.ts";
import { withNotes } from "../tools/command-output.ts";
import { stateOf } from "../tools/commands/background-tools.ts";
import { keysBehind, runKeysBehind } from "../tools/commands/run-keys-behind.ts";

/** What all calls of a turn go through. */
export interface TurnSurroundings {
  readonly workspace: Workspace;
  readonly repositoryChecks: RepositoryChecks;
  readonly checkpoints: TurnCheckpoints;
  readonly background: Pick<BackgroundRuns, "takeEnded">;
  readonly afterEdit: LookAfterEdit;
  /** Something of the session is open: what file tools change is not in the workspace. */
  isOpen(): boolean;
}

/** Some calls of it: the model's, a sub-agent's, or the server's own for the user. */
export interface TurnCallsOptions {
  readonly by: "model" | "sub-agent" | "server";
  /** The staged tree that they work on in place of the workspace, and what their conversation was shown of it. */
  readonly staged:
    | { readonly proposal: Pick<SessionProposal, "tree" | "renew" | "takeNotes">; readonly reader: ProposalReader }
    | undefined;
  /** For the calls that follow a command: without results in the conversation, recorded under the same agent. */
  behind(): Pick<GovernedTools, "run">;
  /** Makes a call's changes durable. */
  record(callId: string, outcome: ToolOutcome, turnId: string): Promise<void>;
}

/** What happens around the tools of a turn, for each call in this order. */
export class TurnCalls implements CallRunner {
  readonly #turn: TurnSurroundings;
  readonly #calls: TurnCallsOptions;

  constructor(turn: TurnSurroundings, calls: TurnCallsOptions) {
    this.#turn = turn;
    this.#calls = calls;
  }

  beginAnswer(): void {
    this.#calls.staged?.reader.beginAnswer();
  }

  async analyse(tool: Tool, args: unknown, context: CallContext): Promise<Analysis> {
    await this.#calls.staged?.proposal.renew();
    const analysis = await tool.analyse(args, context);
    const check = this.#calls.by === "server" && this.#turn.repositoryChecks.get(context.callId);
    if (check === false || check === undefined) return analysis;
    // The action that a user accepts includes what is known to run.
    const { claim: _ours, ...computed } = analysis;
    const operands = { ...analysis.operands, ...(await whatRuns(this.#turn.workspace, check.command)) };
    return { ...computed, operands };
  }

  async execute(tool: Tool, args: unknown, analysis: Analysis, context: ExecutionContext): Promise<ToolOutcome> {
    const keys = keysBehind(analysis);
    if (keys.length > 0) return runKeysBehind(args, keys, { gate: this.#calls.behind(), context });
    const { checkpoints, isOpen } = this.#turn;
    const { staged } = this.#calls;
    const run = async (within: ExecutionContext): Promise<ToolOutcome> =>
      this.#withEndedRuns(await tool.execute(args, analysis, within));
    if (staged !== undefined) return this.#onStagedTree(staged, analysis, () => run(context));
    const isApart = tool.judged !== true && isOpen();
    const outcome = await checkpoints.around(tool, analysis, context, run);
    return isApart ? { ...outcome, apart: true } : this.#withProblems(tool, outcome, context);
  }

  /** The result also lists background commands that ended since the last one. */
  #withEndedRuns(outcome: ToolOutcome): ToolOutcome {
    const ended = this.#calls.by === "server" ? [] : this.#turn.background.takeEnded();
    if (ended.length === 0) return outcome;
    const notes = ended.map((run) => `[in the background, ${stateOf(run)}; BashOutput shows what it printed last]`);
    return { ...outcome, output: withNotes(outcome.output, notes) };
  }

  /** Changes of a staged tree are recorded when a user keeps them. */
  async #onStagedTree(
    { proposal, reader }: NonNullable<TurnCallsOptions["staged"]>,
    analysis: Analysis,
    run: () => Promise<ToolOutcome>,
  ): Promise<ToolOutcome> {
    const written = writtenPaths(analysis);
    const settled = reader.settledBy(written);
    const outcome = await run();
    const { changes = [], observed = [] } = outcome;
    for (const [path, conflict] of settled) {
      if (changes.some((change) => change.path === path)) proposal.tree.settle(path, conflict);
    }
    const shown = reader.show(observed.map(({ path }) => path).filter((path) => !written.includes(path)));
    // The session's own model is told of them, no other one.
    const notes = this.#calls.by === "model" ? proposal.takeNotes() : [];
    const noted = notes.length === 0 ? outcome.output : withNotes(outcome.output, notes);
    // Before the output, because long results are cut at the end.
    return { ...outcome, output: [...shown, noted].join("\n"), apart: true };
  }

  /** The result also reports new problems in the files that the call changed. */
  async #withProblems(tool: Tool, outcome: ToolOutcome, context: ExecutionContext): Promise<ToolOutcome> {
    const { by, record } = this.#calls;
    const { look } = this.#turn.afterEdit;
    const paths = (outcome.changes ?? []).map(({ path }) => path);
    if (by === "server" || tool.access === "read" || look === undefined) return outcome;
    if (paths.length === 0 || paths.length > mostFiles) return outcome;
    const { callId, turnId, signal } = context;
    const recorded = () => record(callId, outcome, turnId);
    const found = await look({ callId, paths, bySubAgent: by === "sub-agent", signal, record: recorded });
    return found === undefined ? outcome : { ...outcome, output: `${outcome.output.trimEnd()}\n\n${found}` };
  }
}

/** Paths written by a file tool: a command's changes are not based on what the model read. */
function writtenPaths({ effects }: Analysis): readonly string[] {
  if (effects.some(({ type }) => type === "exec")) return [];
  return effects.flatMap((effect) => (effect.type === "write" && effect.path.inside ? [effect.path.relative] : []));
}
