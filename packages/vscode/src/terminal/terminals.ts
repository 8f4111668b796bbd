/** The part of the editor's terminals that running one command needs. */
export interface Terminals {
  /** A new terminal with the declared shell. Throws `EditorError` (`no_shell`). */
  create(options: { readonly name: string; readonly cwd: string }): Promise<CommandTerminal>;
}

export interface CommandTerminal {
  readonly id: string;
  /** Resolves with true when the shell reports what it does, with false if it has not by then or the terminal was closed. */
  ready(options: { readonly milliseconds: number; readonly signal: AbortSignal }): Promise<boolean>;
  /** Real path of the directory that the shell reports; undefined if it reports none. */
  directory(): Promise<string | undefined>;
  /** Types a command into a shell that is ready. */
  execute(command: string): CommandExecution;
  show(): void;
  /** Presses Ctrl-C. */
  interrupt(): void;
  /** Ends the shell and everything that it started. */
  kill(): Promise<void>;
  /** Closes a terminal that is not used any more. */
  close(): void;
}

export interface CommandExecution {
  /** Raw output, as the terminal gets it. */
  readonly output: AsyncIterable<string>;
  /** Resolves when the shell reports that it runs the command. */
  readonly begun: Promise<void>;
  readonly end: Promise<ExecutionEnd>;
}

export type ExecutionEnd =
  /** undefined: the shell did not report it. */
  | { readonly type: "exited"; readonly exitCode: number | undefined }
  /** The terminal was closed, or its shell ended, before the command did. */
  | { readonly type: "closed" };
