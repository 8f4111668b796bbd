import type { CommandRun } from "@gennai/protocol/model/session/editor-requests";
import { EditorError } from "../editor/editor-error.ts";

/** Replaces terminals, because a browser has no shell. */
export class TerminalCommands implements AsyncDisposable {
  async run(): Promise<CommandRun> {
    throw new EditorError(
      "no_shell",
      "No command can run: this window of VS Code is in a browser and has no shell.",
      "Open the folder in VS Code on a machine, or go on without commands.",
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {}
}
