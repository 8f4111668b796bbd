import type { Proposal } from "@gennai/protocol/model/session/proposal";
import type { CutOffTurn } from "../session/agent-session.ts";
import type { TurnOutcome } from "../session/turn-state.ts";
import { emptyMeter, type UsageMeter } from "../session/usage-meter.ts";
import type { ViewItem } from "./items/view-item.ts";
import type { SessionView } from "./session-view.ts";

/** The result of a turn. */
export interface TurnReport {
  readonly turnId: string;
  readonly outcome: TurnOutcome;
  /** The model's final text. */
  readonly text: string;
  readonly changedFiles: readonly string[];
  /** True if commands changed some of them: such changes are only taken back with the whole turn. */
  readonly commandsChangedFiles: boolean;
  readonly proposals: readonly Proposal[];
  /** Tools that were refused and not let through later in the turn. */
  readonly refused: readonly string[];
  readonly usage: UsageMeter;
  /** Set when the server went away during the turn, and another turn can go on with it. */
  readonly cutOff: CutOffTurn | undefined;
}

/** What a turn came to, which has ended or is no longer run. */
export function turnReport(view: SessionView, turnId: string): TurnReport {
  const items = view.cells.filter((cell) => cell.turnId === turnId).map(({ item }) => item.peek());
  const { answer, cutOffTurn } = view.facts.peek();
  const end = items.find((item) => item.kind === "turn-end");
  return {
    turnId,
    // A stream that ends without the last status belongs to a turn the server no longer runs.
    outcome: end?.outcome ?? "interrupted",
    text: answer?.turnId === turnId ? answer.text : "",
    changedFiles: end?.changedFiles ?? [],
    commandsChangedFiles: end?.commandsChangedFiles ?? false,
    proposals: items.flatMap((item) => (item.kind === "proposal" ? [item.proposal] : [])),
    refused: refusedTools(items),
    usage: end?.usage ?? emptyMeter,
    cutOff: cutOffTurn?.turnId === turnId ? cutOffTurn : undefined,
  };
}

function refusedTools(items: readonly ViewItem[]): readonly string[] {
  const refused = new Set<string>();
  for (const item of items) {
    if (item.kind !== "tool-call" || item.result === undefined) continue;
    // Also a command that succeeded, although a connection was refused to it.
    if (item.result.failureClass === "permission_denied") refused.add(item.name);
    else if (item.result.error === "") refused.delete(item.name);
  }
  return [...refused];
}
