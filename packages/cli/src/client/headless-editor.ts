import { resolve } from "node:path";
import type { ClientWorkspacePort } from "@gennai/client/connection/client-workspace-port";
import type { ConfirmationQuestion, ConfirmationReply, Editor, RequestOptions } from "@gennai/client/connection/editor";
import type { ApplyRequest } from "@gennai/protocol/model/session/editor-requests";
import type { AppliedFile } from "@gennai/protocol/model/session/proposal";
import type { UserQuestion, UserReply } from "@gennai/protocol/model/session/user-question";
import { type ChangeWriter, finalChange } from "./change-writer.ts";
import { runInTerminal } from "./run-in-terminal.ts";

export interface HeadlessEditorOptions {
  /** Real absolute path. */
  readonly workspace: string;
  /** Environment of commands that a person agrees to; undefined where nobody can, or has no terminal. */
  readonly environment: NodeJS.ProcessEnv | undefined;
  readonly writer: ChangeWriter;
  /** Set when the server cannot reach the files. */
  readonly held?: ClientWorkspacePort | undefined;
  /** undefined if no person is here: then another client asks its person. */
  readonly askUser?: ((questions: readonly UserQuestion[], options: RequestOptions) => Promise<UserReply>) | undefined;
  readonly confirm: (question: ConfirmationQuestion, options: RequestOptions) => Promise<ConfirmationReply>;
}

/** The editor for a user without one: the file system and a shell. There are no buffers, so no file reads are offered. */
export class HeadlessEditor implements Editor {
  readonly workspace?: ClientWorkspacePort;
  readonly askUser?: NonNullable<Editor["askUser"]>;
  readonly runCommand?: NonNullable<Editor["runCommand"]>;
  readonly #options: HeadlessEditorOptions;

  constructor(options: HeadlessEditorOptions) {
    this.#options = options;
    const { held, askUser, environment, workspace } = options;
    if (held !== undefined) this.workspace = held;
    if (askUser !== undefined) this.askUser = ({ questions }, asked) => askUser(questions, asked);
    if (environment !== undefined) {
      this.runCommand = (request, asked) =>
        runInTerminal({ ...request, cwd: resolve(workspace, request.cwd) }, { ...asked, environment });
    }
  }

  confirm(question: ConfirmationQuestion, options: RequestOptions): Promise<ConfirmationReply> {
    return this.#options.confirm(question, options);
  }

  async applyChanges(request: ApplyRequest): Promise<readonly AppliedFile[]> {
    return this.#options.writer.write(request.changes.map(finalChange));
  }
}
