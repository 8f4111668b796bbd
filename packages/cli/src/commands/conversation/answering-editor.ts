import type { ConfirmationQuestion, ConfirmationReply, RequestOptions } from "@gennai/client/connection/editor";
import type { Endpoint } from "@gennai/governance/network/endpoint";
import { answeredAhead } from "../../client/allowed-ahead.ts";
import { ChangeWriter } from "../../client/change-writer.ts";
import { answerByPolicy } from "../../client/confirmation-answer.ts";
import { HeadlessEditor, type HeadlessEditorOptions } from "../../client/headless-editor.ts";

/** Who is asked in a conversation. */
export interface AskedPerson {
  readonly confirm: (question: ConfirmationQuestion, options: RequestOptions) => Promise<ConfirmationReply>;
  readonly askUser: NonNullable<HeadlessEditorOptions["askUser"]>;
}

/** The editor of a conversation: it writes files here, and answers by the options of the command line or by asking the person. */
export function answeringEditor({
  workspace,
  stateDir,
  environment,
  held,
  yes,
  allow,
  person,
}: Pick<HeadlessEditorOptions, "workspace" | "held"> & {
  readonly stateDir: string;
  readonly environment: NodeJS.ProcessEnv;
  /** `--yes` */
  readonly yes: boolean;
  /** `--allow` */
  readonly allow: readonly Endpoint[];
  readonly person: AskedPerson;
}): HeadlessEditor {
  return new HeadlessEditor({
    workspace,
    held,
    environment,
    writer: new ChangeWriter(workspace, stateDir),
    confirm: async (question, options) =>
      answeredAhead(question, allow) ??
      answerByPolicy(yes ? "yes" : "ask", question) ??
      person.confirm(question, options),
    askUser: person.askUser,
  });
}
