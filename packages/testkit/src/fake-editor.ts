import type { ConfirmationQuestion, ConfirmationReply, Editor } from "@gennai/client/connection/editor";
import { sha256Hex } from "@gennai/protocol/digest";
import type { CommandRun, FileRead } from "@gennai/protocol/model/session/editor-requests";

export interface FakeEditorScript {
  /** Unsaved buffers by path; a path that is not here cannot be read. */
  readonly buffers?: Readonly<Record<string, string>>;
  readonly command?: (command: string) => Partial<CommandRun>;
  readonly confirm?: (question: ConfirmationQuestion) => ConfirmationReply | Promise<ConfirmationReply>;
}

export interface FakeEditor extends Editor {
  /** What it was asked, in order, e.g. `read src/a.ts`. */
  readonly asked: readonly string[];
}

/** An editor that answers by script, offers what the script has, and notes what it was asked. */
export function fakeEditor(script: FakeEditorScript): FakeEditor {
  const asked: string[] = [];
  const { buffers, command, confirm } = script;
  return {
    asked,
    ...(buffers === undefined
      ? {}
      : {
          async readFile({ path }) {
            asked.push(`read ${path}`);
            const content = buffers[path];
            if (content === undefined) throw new Error(`There is no buffer of ${path}.`);
            return bufferRead(content);
          },
        }),
    ...(command === undefined
      ? {}
      : {
          async runCommand(request) {
            asked.push(`run ${request.command}`);
            const run = command(request.command);
            return { state: "exited", exitCode: 0, output: "", truncated: false, terminalId: "fake", ...run };
          },
        }),
    ...(confirm === undefined
      ? {}
      : {
          async confirm(question) {
            asked.push(`confirm ${question.actionStatement}`);
            return confirm(question);
          },
        }),
  };
}

function bufferRead(content: string): FileRead {
  return {
    content,
    source: "buffer",
    encoding: "utf8",
    version: 2,
    dirty: true,
    sha256: sha256Hex(content),
    diskSha256: "",
    eol: content.includes("\r\n") ? "crlf" : "lf",
    bom: false,
    truncated: false,
    totalLines: content.split("\n").length,
  };
}
