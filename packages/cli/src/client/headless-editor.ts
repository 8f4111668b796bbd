import { resolve } from "node:path";
import type { ClientWorkspacePort } from "@gennai/client/connection/client-workspace-port";
import type { ConfirmationQuestion, ConfirmationReply, Editor, RequestOptions } from "@gennai/client/connection/editor";
import type { UserQuestion, UserReply } from "@gennai/protocol/model/session/user-question";
import { ChangeWriter, finalChange } from "./change-writer.ts";
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
