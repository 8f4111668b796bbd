import { resolve } from "node:path";
import type { ClientWorkspacePort } from "@gennai/client/connection/client-workspace-port";
import type { ConfirmationQuestion, ConfirmationReply, Editor, RequestOptions } from "@gennai/client/connection/editor";
import type { ReviewedChange } from "@gennai/client/review/reviewed-change";
import { openLocalWorkspace } from "@gennai/machine/workspace/local-workspace";
import type { Workspace, WorkspaceChange } from "@gennai/machine/workspace/workspace";
import type { AppliedFile, ProposedChange } from "@gennai/protocol/model/session/proposal";
import type { UserQuestion, UserReply } from "@gennai/protocol/model/session/user-question";
import { runInTerminal } from "./run-in-terminal.ts";

/** A person who is here. */
export interface AskedPerson {
  confirm(question: ConfirmationQuestion, options: RequestOptions): Promise<ConfirmationReply>;
  askUser(questions: readonly UserQuestion[], options: RequestOptions): Promise<UserReply>;
}

export interface HeadlessEditorOptions {
  /** Real absolute path. */
  readonly workspace: string;
  readonly stateDir: string;
  /** Environment of commands that a person agrees to; undefined where nobody can, or has no terminal. */
  readonly environment: NodeJS.ProcessEnv | undefined;
  /** Set when the server cannot reach the files. */
  readonly held?: ClientWorkspacePort | undefined;
  /** An answer that needs no person; undefined: there is none. */
  readonly answered: (question: ConfirmationQuestion) => ConfirmationReply | undefined;
  /** undefined if no person is here: what the model asks, another client asks its person then. */
  readonly person: AskedPerson | undefined;
}

type HeadlessEditor = Editor & Required<Pick<Editor, "confirm" | "applyChanges">>;

/** The editor for a user without one: the file system and a shell. There are no buffers, so no file reads are offered. */
export function headlessEditor(options: HeadlessEditorOptions): HeadlessEditor {
  const { workspace, held, environment, answered, person } = options;
  const writer = new ChangeWriter(workspace, options.stateDir);
  return {
    ...(held === undefined ? {} : { workspace: held }),
    ...(person === undefined ? {} : { askUser: ({ questions }, asked) => person.askUser(questions, asked) }),
    ...(environment === undefined
      ? {}
      : {
          runCommand: (request, asked) =>
            runInTerminal({ ...request, cwd: resolve(workspace, request.cwd) }, { ...asked, environment }),
        }),
    confirm: async (question, asked) =>
      answered(question) ?? person?.confirm(question, asked) ?? { answer: "nobody", reason: "Nobody could be asked." },
    applyChanges: async ({ changes }) => writer.write(changes.map(finalChange)),
  };
}

/** Writes sets of changes into a workspace, all or nothing, each against the bytes it is based on. */
export class ChangeWriter {
  readonly #workspace: Workspace;

  /** Throws `WorkspaceError` for a directory that cannot be a workspace. */
  constructor(workspace: string, stateDir: string) {
    this.#workspace = openLocalWorkspace(workspace, { stateDir });
  }

  /** Rejects with `ToolFailure` if a file has changed since; then nothing was written. */
  async write(changes: readonly ReviewedChange[]): Promise<readonly AppliedFile[]> {
    const prepared = await Promise.all(changes.map((change) => this.#prepare(change)));
    const applied = await this.#workspace.apply(prepared, { readOnlyToo: true });
    return applied.map(({ path, operation, before, afterSha256 }) => ({
      path: path.relative,
      operation,
      beforeSha256: before?.sha256,
      afterSha256,
    }));
  }

  async #prepare(change: ReviewedChange): Promise<WorkspaceChange> {
    const path = await this.#workspace.resolve(change.path, { isRecorded: true });
    if (change.operation === "delete") return { operation: "delete", path, baseSha256: change.baseSha256 };
    const bytes = new TextEncoder().encode(change.text);
    if (change.operation === "create") return { operation: "create", path, bytes };
    return { operation: "update", path, bytes, baseSha256: change.baseSha256 };
  }
}

/** A change as it was proposed, as a whole. Throws for a conflict, and if its new text was not sent. */
export function finalChange(change: ProposedChange): ReviewedChange {
  const { path, operation, newContent: text, baseSha256 } = change;
  if (change.conflict) throw new Error(`${path} has a conflict and is not applied without review.`);
  if (change.newContentBlob !== undefined && operation !== "delete" && text === "") {
    throw new Error(`The new text of ${path} was not sent with the change.`);
  }
  if (operation === "delete") return { operation, path, baseSha256 };
  return operation === "create" ? { operation, path, text } : { operation, path, text, baseSha256 };
}
