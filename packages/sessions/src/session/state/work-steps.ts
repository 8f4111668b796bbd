import type { DirectoryChangeRecord, FileChangeRecord } from "@gennai/agent/events/proposal";
import type { LoggedEvent } from "@gennai/agent/events/session-event";

/** A restore that began and is not recorded as complete. */
export interface OpenRestore {
  readonly checkpointId: string;
  readonly restoreId: string;
  /** What it was going to write. */
  readonly files: readonly FileChangeRecord[];
}

type NamedFile = Pick<FileChangeRecord, "path" | "operation">;

/** A change of files by a session. */
export interface WorkStep {
  /** For a command: the checkpoint before it. For a restore: its own. Otherwise empty. */
  readonly checkpointId: string;
  readonly kind: "files" | "command" | "restore";
  /** Sequence number of the event that reports it. */
  readonly seq: number;
  readonly turnId: string;
  readonly time: number;
  /** Name of the tool; empty if there is none. */
  readonly title: string;
  /** Changed files; for a command only the first names, once it ended. */
  readonly files: readonly (FileChangeRecord | NamedFile)[];
  readonly more: number;
  /** All changes; undefined for a command, whose snapshots have them. */
  readonly records: readonly FileChangeRecord[] | undefined;
  readonly directories?: readonly DirectoryChangeRecord[] | undefined;
}

/** All file changes of a session, in order: a fold over its log. */
export class WorkSteps {
  readonly #steps: WorkStep[] = [];

  /** The beginning of the user's request in each turn. */
  readonly requests = new Map<string, string>();

  openRestore: OpenRestore | undefined;

  get all(): readonly WorkStep[] {
    return this.#steps;
  }

  apply({ event, seq, turnId, time }: LoggedEvent): void {
    const base = { checkpointId: "", seq, turnId, time, title: "", more: 0 };
    switch (event.type) {
      case "user-message":
        // A message during the turn is no request of its own.
        if (event.messageId !== undefined) break;
        this.requests.set(turnId, event.text.replaceAll(/\s+/g, " ").trim().slice(0, 80));
        break;
      case "change-set-applied": {
        const { files, directories } = event;
        this.#steps.push({ ...base, kind: "files", files, records: files, directories });
        break;
      }
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
