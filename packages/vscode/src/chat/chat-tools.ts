import * as vscode from "vscode";
import * as z from "zod/mini";
import type { Workbench } from "../commands/workbench.ts";
import type { ChatToolName } from "./chat-tool-names.ts";
import { decisionsIn } from "./ledger-decision.ts";

const callTimeoutMs = 30_000;
/** How many of the newest ledger records are searched. */
const lookedAt = 500;

const explainInput = z.object({ limit: z.optional(z.int().check(z.minimum(1), z.maximum(50))) });

/** The answer of a tool, as JSON. Rejects with advice if there is no session. */
export async function callChatTool(
  workbench: Pick<Workbench, "sessions" | "connect">,
  name: ChatToolName,
  input: unknown,
): Promise<vscode.LanguageModelToolResult> {
  await workbench.connect();
  const { session } = workbench.sessions;
  if (session === undefined) throw new Error("No session of Gennai is open in this window. Open its REPL first.");
  const answer =
    name === "gennai_session_changes"
      ? sessionChanges(workbench)
      : await decisions(workbench, session.sessionId, explainInput.parse(input ?? {}).limit ?? 10);
  return new vscode.LanguageModelToolResult([new vscode.LanguageModelTextPart(JSON.stringify(answer, undefined, 2))]);
}

function sessionChanges({ sessions: { facts, view } }: Pick<Workbench, "sessions">) {
  return {
    changeSets: view.changeSets.map(({ changeSetId, time, files }) => ({
      changeSetId,
      time: time?.toISOString(),
      files: files.map(({ path }) => path),
    })),
    proposalsWaitingForReview: [...facts.openProposals.values()].map(({ proposalId, changes }) => ({
      proposalId,
      files: changes.map(({ path }) => path),
    })),
  };
}

async function decisions(workbench: Pick<Workbench, "connect">, sessionId: string, limit: number) {
  const { governance } = await workbench.connect();
  const { records } = await governance.listLedgerRecords(
    { sessionId, limit: lookedAt, newest: true },
    { signal: AbortSignal.timeout(callTimeoutMs) },
  );
  return { decisions: records.flatMap(({ json }) => decisionsIn(json)).slice(-limit) };
}
