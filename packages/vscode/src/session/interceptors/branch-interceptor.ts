import { create, isMessage } from "@bufbuild/protobuf";
import { Code, ConnectError, type Interceptor } from "@connectrpc/connect";
import { StartTurnRequestSchema } from "@gennai/protocol/gen/gennai/agent/v1/agent_pb";
import type { EditingMode } from "@gennai/protocol/model/session/session-settings";
import { isAgentBranch } from "../../git/branch-choices.ts";
import type { BranchOutcome } from "../../git/git-branch-mode.ts";

export interface BranchPorts {
  /** The server cannot reach the folder: its branch is this window's matter. */
  isHeld(): boolean;
  /** The user agrees ahead to a branch for what a turn writes. */
  agreesAhead(): boolean;
  editingMode(sessionId: string): Promise<EditingMode>;
  currentBranch(): Promise<string | undefined>;
  /** Asks the user where the agent should work, and switches to that branch. */
  prepare(task: string): Promise<BranchOutcome>;
  toProposalMode(sessionId: string): Promise<void>;
}

/** Scenarios that do not write. */
const readers = new Set(["RESPOND", "PLAN", "EDITOR_CODE"]);

/**
 * The branch of turns in Branch Mode, whatever starts them. The server asks about one with the first write, or not if the user
 * agreed ahead. In a folder that this window holds, the window asks once, before the turn.
 */
export function branchInterceptor(ports: BranchPorts): Interceptor {
  /** Branches to work on, and sessions that only look. */
  const settled = new Set<string>();
  let asking: Promise<BranchOutcome> | undefined;
  const ask = (task: string): Promise<BranchOutcome> => {
    asking ??= ports.prepare(task).finally(() => {
      asking = undefined;
    });
    return asking;
  };
  return (next) => async (request) => {
    if (request.stream || !isMessage(request.message, StartTurnRequestSchema)) return next(request);
    const { message } = request;
    if (readers.has(message.scenario) || settled.has(message.sessionId)) return next(request);
    if (!ports.isHeld()) {
      if (!ports.agreesAhead() || message.branchTask !== "") return next(request);
      return next({
        ...request,
        message: create(StartTurnRequestSchema, { ...message, branchTask: message.userInput }),
      });
    }
    if ((await ports.editingMode(message.sessionId)) === "proposal") return next(request);
    const branch = await ports.currentBranch();
    if (branch !== undefined && (isAgentBranch(branch) || settled.has(branch))) return next(request);
    const outcome = await ask(message.userInput);
    switch (outcome.type) {
      case "branch":
        settled.add(outcome.name);
        return next(request);
      case "look":
        settled.add(message.sessionId);
        return next(request);
      case "proposal":
        await ports.toProposalMode(message.sessionId);
        return next({ ...request, message: create(StartTurnRequestSchema, { ...message, scenario: "" }) });
      case "cancelled":
        throw new ConnectError("Nothing was started: you chose no branch for the agent.", Code.FailedPrecondition);
    }
  };
}
