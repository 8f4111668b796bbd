import type { FileChangeRecord } from "@gennai/agent/proposal";
import type { SessionState } from "../session/session-state.ts";
import type { WorkStep } from "../session/work-steps.ts";

/** A point before something was done to files. */
export interface Checkpoint {
  readonly checkpointId: string;
  readonly kind: "turn" | "command" | "restore";
  /** From 1; 0 outside of a turn. */
  readonly turnNumber: number;
  readonly turnId: string;
  /** Milliseconds since the epoch. */
  readonly time: number;
  /** What the user asked for in the turn, or the name of the tool; empty where neither is. */
  readonly title: string;
  /** What was changed between this point and the next of its kind. */
  readonly files: readonly Pick<FileChangeRecord, "path" | "operation">[];
  readonly more: number;
  /** False: what was kept is gone. */
  readonly kept: boolean;
  /** The session's work from this event on came later. */
  readonly fromSeq: number;
}

/**
 * The points of a session to which its work can be taken back, oldest first.
 * @param isKept whether the snapshots of a command are still there
 */
export function checkpointsOf(
  state: Pick<SessionState, "work" | "turns">,
  isKept: (checkpointId: string) => boolean,
): readonly Checkpoint[] {
  const numbers = new Map([...state.turns.keys()].map((turnId, index) => [turnId, index + 1]));
  const found: Checkpoint[] = [];
  const turns = new Map<string, WorkStep[]>();
  for (const step of state.work.all) {
    const ofTurn = turns.get(step.turnId);
    if (step.turnId === "" || !numbers.has(step.turnId)) {
      if (step.kind === "restore" && step.checkpointId !== "") found.push(ofStep(step, "restore", 0, true));
      continue;
    }
    if (ofTurn === undefined) turns.set(step.turnId, [step]);
    else ofTurn.push(step);
  }
  for (const [turnId, steps] of turns) {
    const [first] = steps;
    if (first === undefined) continue;
    const number = numbers.get(turnId) ?? 0;
    const commands = steps.filter(({ kind }) => kind === "command");
    const kept = commands.every(({ checkpointId }) => isKept(checkpointId));
    const files = new Map(steps.flatMap((step) => step.files).map((file) => [file.path, file]));
    const more = steps.reduce((sum, step) => sum + step.more, 0);
    found.push({
      ...ofStep(first, "turn", number, kept),
      checkpointId: turnId,
      title: state.work.requests.get(turnId) ?? "",
      files: [...files.values()].map(named),
      more,
      fromSeq: (state.turns.get(turnId)?.afterSeq ?? first.seq - 1) + 1,
    });
    for (const each of commands) found.push(ofStep(each, "command", number, isKept(each.checkpointId)));
  }
  // What was lost since cannot be stepped over: an older point needs all that came later.
  let whole = true;
  return found
    .sort((one, other) => other.fromSeq - one.fromSeq)
    .map((each) => {
      whole &&= each.kept;
      return { ...each, kept: whole };
    })
    .reverse();
}

function ofStep(step: WorkStep, kind: Checkpoint["kind"], turnNumber: number, kept: boolean): Checkpoint {
  const { checkpointId, turnId, time, title, files, more, seq } = step;
  return { checkpointId, kind, turnNumber, turnId, time, title, files: files.map(named), more, kept, fromSeq: seq };
}

function named({ path, operation }: Pick<FileChangeRecord, "path" | "operation">) {
  return { path, operation };
}
