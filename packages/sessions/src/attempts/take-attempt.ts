import { randomUUID } from "node:crypto";
import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import type { Effect } from "@gennai/governance/effect";
import type { Tool } from "@gennai/governance/tool";
import { ToolFailure } from "@gennai/governance/tool-error";
import { removeTree } from "@gennai/machine/entries/remove-tree";
import { ServiceError } from "@gennai/machine/service-error";
import { textWithoutNul } from "@gennai/protocol/utf8-text";
import { rebaseStagedTree } from "@gennai/shell/proposal/rebase-staged-tree";
import { StagedTree } from "@gennai/shell/proposal/staged-tree";
import { z } from "zod";
import { chooseScenario } from "../policies/choose-scenario.ts";
import { fileInWorkspace } from "../proposal/file-in-workspace.ts";
import type { SessionProposal } from "../proposal/session-proposal.ts";
import { stagedChanges } from "../proposal/staged-proposal.ts";
import type { Session } from "../session/session.ts";
import type { PreparedTurn } from "../session/turns/prepared-turn.ts";
import type { ToolFact } from "../tools/tool-fact.ts";
import { buildTurnGate } from "../turn/gate/turn-gate.ts";
import type { Attempt, Attempts } from "./attempt.ts";
import { attemptUpdates, leftOutOf } from "./attempt-updates.ts";

/** The attempt that a user takes, and access to its contents by digest. */
export interface WantedAttempt {
  readonly of: Attempts;
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
  const report: TakeReport = {};
  const { ended } = await session.startPrepared((turnId, signal) =>
    prepareTaking(session, { ...wanted, turnId, signal, report }),
  );
  await ended;
  if (report.proposalId !== undefined) return report.proposalId;
  throw new ServiceError("failed_precondition", `The attempt was not taken: ${report.why ?? "it was stopped."}`, {
    reason: report.code ?? "not_taken",
    ...(report.hint === undefined ? {} : { hint: report.hint }),
  });
}

/** The result, set when its turn has ended. */
interface TakeReport {
  proposalId?: string;
  why?: string;
  code?: string;
  hint?: string;
}

interface Taking extends WantedAttempt {
  readonly turnId: string;
  readonly signal: AbortSignal;
  readonly report: TakeReport;
}

async function prepareTaking(session: Session, taking: Taking): Promise<PreparedTurn> {
  const { of, attempt, turnId, signal, report } = taking;
  const { services } = session;
  services.emergency.assertTurnsMayStart();
  const { scenario } = await chooseScenario(session, "");
  const title = `attempt ${attempt.number} of “${of.prompt.replaceAll(/\s+/g, " ").trim().slice(0, 200)}”`;
  const gate = await buildTurnGate(session, scenario, {
    turnId,
    modelId: "",
    signal,
    moreOwnTools: (proposal) => [takeTool(session, taking, proposal)],
  });
  const leftOut = leftOutOf(attempt);
  const text = await services.redactor.redact(`Take ${title}.`);
  return {
    openingEvents: [
      { type: "status", state: "started", iteration: 0 },
      {
        type: "user-message",
        text,
        images: [],
        scenario: scenario.name,
        clientTurnId: `take-${turnId}`,
        enableThinking: false,
      },
      ...(leftOut.length === 0
        ? []
        : [{ type: "warning", text: `Links are not proposed, and left out: ${leftOut.join(", ")}` } as const]),
    ],
    gate,
    run: async () => {
      const call = { id: `${turnId}-take`, name: "TakeAttempt", argumentsJson: "{}" };
      const [result] = await gate.own.tools.run([call], { turnId, signal });
      if (signal.aborted) return { type: "cancelled" };
      const error = result?.error;
      if (error !== undefined) {
        Object.assign(report, { why: error.message, code: error.code, hint: error.hint });
        return { type: "failed", code: error.code, message: `It was not taken: ${error.message}`, retryable: false };
      }
      session.writer.emit({ ...finalWords, text: `Proposed: ${title}. The workspace is not changed yet.` }, { turnId });
      return { type: "completed" };
    },
  };
}

const finalWords = {
  type: "final",
  thinking: "",
  inputTokens: 0,
  outputTokens: 0,
  modelId: "",
  maxContextTokens: 0,
} as const;

/** A tool that stages and proposes the attempt's changes. Called by the server for a user; the model does not have it. */
function takeTool(session: Session, taking: Taking, proposal: SessionProposal | undefined): Tool {
  const { of, attempt, report, stateDir } = taking;
  const { blobs } = session.services;
  const place = proposal?.workspace ?? session.workspace;
  return {
    name: "TakeAttempt",
    description: "Proposes what an attempt changed.",
    parameters: z.strictObject({}),
    access: "read",
    alone: true,

    async analyse() {
      const effects: Effect[] = [];
      for (const { path, before, after } of attempt.changes) {
        if (leftOutOf(attempt).includes(path)) continue;
        const content = after === undefined ? undefined : textWithoutNul(taking.contentOf(after.sha256));
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
        tree.update(await attemptUpdates(tree, taking, (path) => fileInWorkspace(session.workspace, path)));
        await rebaseStagedTree(tree, (path) => fileInWorkspace(session.workspace, path));
        const changes = await stagedChanges(tree, blobs);
        if (changes.length === 0) throw new ToolFailure("no_change", "The workspace already has all of these changes.");
        const proposalId = randomUUID();
        if (proposal !== undefined) tree.markProposed(proposalId);
        const hasConflicts = changes.some(({ conflict }) => conflict);
        const fact: ToolFact = {
          type: "proposal",
          proposal: { proposalId, toolCallId: callId, changes, hasConflicts, warnings: [] },
        };
        report.proposalId = proposalId;
        return { output: `Proposed: ${changes.map(({ path }) => path).join(", ")}.`, facts: [fact] };
      } finally {
        if (own !== undefined) await removeTree(own);
      }
    },
  };
}
