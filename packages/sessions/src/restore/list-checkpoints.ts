import type { FileChangeRecord } from "@gennai/agent/events/proposal";
import type { Checkpoint } from "@gennai/protocol/model/session/checkpoint";
import type { SessionState } from "../session/state/session-state.ts";
import type { WorkStep } from "../session/state/work-steps.ts";

/** A point of a session to which its work can be restored. Lists all files. */
export interface SessionCheckpoint extends Checkpoint {
  /** Events from this one on came later. */
  readonly fromSeq: number;
}

/**
 * The points of a session to which its work can be restored, oldest first.
 * @param isKept whether the snapshots of a command still exist
 */
export function checkpointsOf(
  state: Pick<SessionState, "work" | "turns">,
  isKept: (checkpointId: string) => boolean,
): readonly SessionCheckpoint[] {
  const numbers = new Map([...state.turns.keys()].map((turnId, index) => [turnId, index + 1]));
  const found: SessionCheckpoint[] = [];
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
    found.push({
      ...ofStep(first, "turn", number, kept),
      checkpointId: turnId,
      title: state.work.requests.get(turnId) ?? "",
      files: [...files.values()].map(named),
      moreFiles: steps.reduce((sum, step) => sum + step.more, 0),
      fromSeq: (state.turns.get(turnId)?.afterSeq ?? first.seq - 1) + 1,
    });
    for (const each of commands) found.push(ofStep(each, "command", number, isKept(each.checkpointId)));
  }
  // Lost snapshots cannot be skipped: an older point needs all later ones.
  let whole = true;
  return found
    .sort((one, other) => other.fromSeq - one.fromSeq)
    .map((each) => {
      whole &&= each.kept;
      return { ...each, kept: whole };
    })
    .reverse();
}

function ofStep(step: WorkStep, kind: Checkpoint["kind"], turnNumber: number, kept: boolean): SessionCheckpoint {
  const { checkpointId, turnId, time, title, more: moreFiles, seq: fromSeq } = step;
  return {
    checkpointId,
    kind,
    turnNumber,
    turnId,
    time,
    title,
    files: step.files.map(named),
    moreFiles,
    kept,
    fromSeq,
  };
}

function named({ path, operation }: Pick<FileChangeRecord, "path" | "operation">) {
  return { path, operation };
}
