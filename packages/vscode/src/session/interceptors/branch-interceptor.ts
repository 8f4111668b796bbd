import { create, isMessage } from "@bufbuild/protobuf";
import { Code, ConnectError, type Interceptor } from "@connectrpc/connect";
import { firstPrompts } from "@gennai/client/session/text/first-prompts";
import { StartTurnRequestSchema } from "@gennai/protocol/gen/gennai/agent/v1/agent_pb";
import type { EditingMode } from "@gennai/protocol/model/session/session-settings";
import { isAgentBranch, isCommonlyProtected } from "../../git/branch-choices.ts";
import type { BranchOutcome } from "../../git/git-branch-mode.ts";

export interface BranchPorts {
  editingMode(sessionId: string): Promise<EditingMode>;
  currentBranch(): Promise<string | undefined>;
  /** Asks the user where the agent should work, and switches to that branch. */
  prepare(task: string, sessionId: string): Promise<BranchOutcome>;
  toProposalMode(sessionId: string): Promise<void>;
}

/** Scenarios that do not write. */
const readers = new Set(["RESPOND", "PLAN", "EDITOR_CODE"]);

/** Before a writing turn starts in Branch Mode: asks once where the agent works, whatever starts the turn. */
export function branchInterceptor(ports: BranchPorts): Interceptor {
  const settled = new Set<string>();
  let asking: Promise<BranchOutcome> | undefined;
  const ask = (task: string, sessionId: string): Promise<BranchOutcome> => {
    asking ??= ports.prepare(task, sessionId).finally(() => {
      asking = undefined;
    });
    return asking;
  };
  return (next) => async (request) => {
    if (request.stream || !isMessage(request.message, StartTurnRequestSchema)) return next(request);
    const { message } = request;
    if (readers.has(message.scenario)) return next(request);
    if ((await ports.editingMode(message.sessionId)) === "proposal") return next(request);
    const branch = await ports.currentBranch();
    if (branch !== undefined && (isAgentBranch(branch) || settled.has(branch))) return next(request);
    // Nothing can be written on this branch, and these prompts only read.
    if (firstPrompts.includes(message.userInput) && (branch === undefined || isCommonlyProtected(branch))) {
      return next(request);
    }
    const outcome = await ask(message.userInput, message.sessionId);
    switch (outcome.type) {
      case "branch":
        settled.add(outcome.name);
        return next(request);
      // Not settled: the next turn may write, and asks again.
      case "look":
        return next(request);
      case "proposal":
        await ports.toProposalMode(message.sessionId);
        return next({ ...request, message: create(StartTurnRequestSchema, { ...message, scenario: "" }) });
      case "cancelled":
        throw new ConnectError("Nothing was started: you chose no branch for the agent.", Code.FailedPrecondition);
    }
  };
}
