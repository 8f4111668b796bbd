import type { FileChangeRecord } from "@gennai/agent/events/proposal";
import type { LoggedEvent } from "@gennai/agent/events/session-event";

/** A restore that began and is not recorded as done. */
export interface OpenRestore {
  readonly checkpointId: string;
  readonly restoreId: string;
  /** What was to be written. */
  readonly files: readonly FileChangeRecord[];
}

type NamedFile = Pick<FileChangeRecord, "path" | "operation">;

/** Something a session did to files. */
export interface WorkStep {
  /** Of a command: the checkpoint before it. Of a restore: its own. Empty for others. */
  readonly checkpointId: string;
  readonly kind: "files" | "command" | "restore";
  /** Seq of the event that reports it. */
  readonly seq: number;
  readonly turnId: string;
  readonly time: number;
  /** Name of the tool; empty when none was. */
  readonly title: string;
  /** What it changed; of a command only the names of the first, once it ended. */
  readonly files: readonly (FileChangeRecord | NamedFile)[];
  readonly more: number;
  /** What it changed, whole; undefined for a command, whose snapshots say it. */
  readonly records: readonly FileChangeRecord[] | undefined;
}

/** All that a session did to files, in order: a fold over its log. */
export class WorkSteps {
  readonly #steps: WorkStep[] = [];

  /** The beginning of what the user asked for in each turn. */
  readonly requests = new Map<string, string>();

  openRestore: OpenRestore | undefined;

  get all(): readonly WorkStep[] {
    return this.#steps;
  }

  apply({ event, seq, turnId, time }: LoggedEvent): void {
    const base = { checkpointId: "", seq, turnId, time, title: "", more: 0 };
    switch (event.type) {
      case "user-message":
        // What was said while the turn ran is not a request of its own.
        if (event.messageId !== undefined) break;
        this.requests.set(turnId, event.text.replaceAll(/\s+/g, " ").trim().slice(0, 80));
        break;
      case "change-set-applied":
        this.#steps.push({ ...base, kind: "files", files: event.files, records: event.files });
        break;
      case "change-set-undone":
        this.#steps.push({ ...base, kind: "restore", files: event.files, records: event.files });
        break;
      case "checkpoint-restoring":
        this.openRestore = event;
        break;
      case "checkpoint-restored": {
        this.openRestore = undefined;
        const { restoreId: checkpointId, files } = event;
        if (files.length > 0) this.#steps.push({ ...base, kind: "restore", checkpointId, files, records: files });
        break;
      }
      case "checkpoint-taken": {
        const { checkpointId, toolName: title } = event;
        this.#steps.push({ ...base, kind: "command", checkpointId, title, files: [], records: undefined });
        break;
      }
      case "checkpoint-closed":
        this.#close(event.checkpointId, event.files, event.more);
        break;
      default:
        break;
    }
  }

  #close(checkpointId: string, files: readonly NamedFile[], more: number): void {
    const index = this.#steps.findLastIndex((step) => step.checkpointId === checkpointId);
    const step = this.#steps[index];
    if (step === undefined) return;
    if (files.length === 0) this.#steps.splice(index, 1);
    else this.#steps[index] = { ...step, files, more };
  }
}
