import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import { warningEvent } from "@gennai/agent/events/warning";
import type { Effect } from "@gennai/governance/effect";
import type { Tool } from "@gennai/governance/tool";
import { type ToolError, ToolFailure } from "@gennai/governance/tool-error";
import { removeTree } from "@gennai/machine/entries/remove-tree";
import { ServiceError } from "@gennai/machine/service-error";
import { sha256 } from "@gennai/machine/workspace/files/content-digest";
import { mergedBytes } from "@gennai/protocol/diff/three-way-diff";
import { textWithoutNul } from "@gennai/protocol/diff/utf8-text";
import { type Attempt, type AttemptFile, type AttemptSet, isLink } from "@gennai/protocol/model/session/attempt";
import { rebaseStagedTree } from "@gennai/shell/proposal/rebase-staged-tree";
import { ordinaryMode } from "@gennai/shell/proposal/staged-file";
import { StagedTree, type StagedUpdate } from "@gennai/shell/proposal/staged-tree";
import { z } from "zod";
import { chooseScenario } from "../policies/load-scenarios.ts";
import { proposedTree } from "../proposal/propose-staged-tool.ts";
import { fileInWorkspace, type SessionProposal } from "../proposal/session-proposal.ts";
import { finalText, opening } from "../session/own-turn.ts";
import type { PreparedTurn } from "../session/prepared-turn.ts";
import type { Session } from "../session/session.ts";
import { buildTurnGate } from "../turn/turn-gate.ts";

/** The attempt that a user takes, and access to its contents by digest. */
export interface WantedAttempt {
  readonly of: AttemptSet;
  readonly attempt: Attempt;
  readonly stateDir: string;
  contentOf(sha256: string): Buffer;
}

/**
 * Turns an attempt's changes into the session's proposal: on top of what is staged in Proposal Mode, on their own in Branch
 * Mode. In both modes they are merged with the workspace's current state, judged by the rules, and reviewed like any other.
 * Runs as a turn of its own, so that it is recorded and can be stopped. Rejects with `ServiceError`; then nothing is proposed.
 *
 * @returns the id of the proposal
 */
export async function takeAttempt(session: Session, wanted: WantedAttempt): Promise<string> {
  const before = new Set(session.state.proposals.keys());
  let refusal: ToolError | undefined;
  const { ended } = await session.turns.start((turnId, signal) =>
    prepareTaking(session, wanted, { turnId, signal, onRefused: (error) => (refusal = error) }),
  );
  await ended;
  const proposalId = [...session.state.proposals.keys()].find((id) => !before.has(id));
  if (proposalId !== undefined) return proposalId;
  const { message = "it was stopped.", code = "not_taken", hint } = refusal ?? {};
  throw new ServiceError("failed_precondition", `The attempt was not taken: ${message}`, {
    reason: code,
    hint,
  });
}

async function prepareTaking(
  session: Session,
  wanted: WantedAttempt,
  turn: { readonly turnId: string; readonly signal: AbortSignal; onRefused(error: ToolError): void },
): Promise<PreparedTurn> {
  const { of, attempt } = wanted;
  const { turnId, signal } = turn;
  const { services } = session;
  services.emergency.assertTurnsMayStart();
  const { scenario } = await chooseScenario(session, "");
  const title = `attempt ${attempt.number} of “${of.prompt.replaceAll(/\s+/g, " ").trim().slice(0, 200)}”`;
  const gate = await buildTurnGate(session, scenario, {
    turnId,
    modelId: "",
    signal,
    moreOwnTools: (proposal) => [takeTool(session, wanted, proposal)],
  });
  const links = attempt.changes.filter(isLink).map(({ path }) => path);
  const leftOut = `Links are not proposed, and left out: ${links.join(", ")}`;
  return {
    openingEvents: await opening(
      session,
      { what: "take", turnId, scenario: scenario.name, text: `Take ${title}.` },
      links.length === 0 ? [] : [warningEvent(leftOut)],
    ),
    gate,
    run: async () => {
      const call = { id: `${turnId}-take`, name: "TakeAttempt", argumentsJson: "{}" };
      const [result] = await gate.own.tools.run([call], { turnId, signal });
      if (signal.aborted) return { type: "cancelled" };
      const error = result?.error;
      if (error !== undefined) {
        turn.onRefused(error);
        return { type: "failed", code: error.code, message: `It was not taken: ${error.message}`, retryable: false };
      }
      session.writer.emit(finalText(`Proposed: ${title}. The workspace is not changed yet.`), { turnId });
      return { type: "completed" };
    },
  };
}

/** A tool that stages and proposes the attempt's changes. Called by the server for a user; the model does not have it. */
function takeTool(session: Session, wanted: WantedAttempt, proposal: SessionProposal | undefined): Tool {
  const { of, attempt, stateDir } = wanted;
  const place = proposal?.workspace ?? session.workspace;
  return {
    name: "TakeAttempt",
    description: "Proposes what an attempt changed.",
    parameters: z.strictObject({}),
    access: "read",
    alone: true,

    async analyse() {
      const effects: Effect[] = [];
      for (const change of attempt.changes) {
        const { path, before, after } = change;
        if (isLink(change)) continue;
        const content = after === undefined ? undefined : textWithoutNul(wanted.contentOf(after.sha256));
        effects.push({
          type: "propose",
          path: await place.resolve(path),
          operation: before === undefined ? "create" : after === undefined ? "delete" : "update",
          ...(content === undefined ? {} : { content }),
        });
      }
      if (effects.length === 0) throw new ToolFailure("no_change", "The attempt changed nothing that can be proposed.");
      return { statement: `Propose what attempt ${attempt.number} of ${of.id} changed`, effects };
    },

    async execute(_args, _analysis, { callId }) {
      const own = proposal === undefined ? mkdtempSync(join(stateDir, "attempts", "take-")) : undefined;
      try {
        const tree = proposal?.tree ?? StagedTree.open(own ?? stateDir, session.id, { path: session.workspace.root });
        tree.update(await updatesOf(tree, wanted, session));
        await rebaseStagedTree(tree, (path) => fileInWorkspace(session.workspace, path));
        if (tree.files.size === 0)
          throw new ToolFailure("no_change", "The workspace already has all of these changes.");
        return await proposedTree(tree, callId, session.services.blobs);
      } finally {
        if (own !== undefined) await removeTree(own);
      }
    },
  };
}

/**
 * The attempt's changes of a staged tree. If a file was staged after the attempt began, both changes are merged; throws
 * `ToolFailure` `stale_file` if they conflict. The tree itself detects changes in the workspace.
 */
async function updatesOf(
  tree: StagedTree,
  { attempt, contentOf }: WantedAttempt,
  { workspace }: Session,
): Promise<readonly StagedUpdate[]> {
  const updates: StagedUpdate[] = [];
  const bytesOf = (file: AttemptFile | undefined) => (file === undefined ? undefined : contentOf(file.sha256));
  for (const change of attempt.changes) {
    if (isLink(change)) continue;
    const { path, before, after } = change;
    const there = await fileInWorkspace(workspace, path);
    const isAsFound = typeof there === "object" && before !== undefined && sha256(there.bytes) === before.sha256;
    const [base, made] = [bytesOf(before), bytesOf(after)];
    const baseMode = isAsFound ? there.mode : modeOf(before);
    const known = tree.files.get(path);
    const mine = known?.staged ? tree.content(known.staged.sha256) : undefined;
    const isStagedSince = known !== undefined && known.staged?.sha256 !== before?.sha256;
    const staged = isStagedSince ? together(path, { base, mine, theirs: made }) : made;
    const mode = before?.kind === after?.kind ? baseMode : modeOf(after);
    updates.push({
      path,
      base: base && { bytes: base, mode: baseMode },
      staged: staged && { bytes: staged, mode },
      command: "",
    });
  }
  return updates;
}

/** Of the permission bits, git stores only whether a file is executable. */
function modeOf(file: AttemptFile | undefined): number {
  return file?.kind === "executable" ? 0o755 : ordinaryMode;
}

function together(
  path: string,
  contents: Readonly<Record<"base" | "mine" | "theirs", Buffer | undefined>>,
): Buffer | undefined {
  const { base, mine, theirs } = contents;
  if (theirs === undefined ? mine === undefined : mine?.equals(theirs) === true) return mine;
  const merged = base && mine && theirs && mergedBytes({ base, mine, theirs });
  if (merged !== undefined) return Buffer.from(merged);
  throw new ToolFailure("stale_file", `${path} is staged in this session by now, and the attempt changed the same.`, {
    hint: "Keep or refuse what is proposed first, or make the attempts again.",
  });
}
