import * as vscode from "vscode";

/** Something that runs elsewhere, shown in a terminal. */
export interface Watched {
  /** Resolves when it has ended, or is no longer watched. Never rejects. */
  watch(): Promise<void>;
  /** Text that the user typed. */
  input(text: string): Promise<void>;
  /** The terminal was closed. */
  close(): Promise<void>;
}

export interface WatchTerminalOptions {
  readonly name: string;
  /** @param write writes text to the terminal */
  watched(write: (text: string) => void): Watched;
  /** The terminal closes. True: the user closed it, and `close` of what it shows is called. */
  onClose(): boolean;
  onFailure(error: unknown): void;
}

/** A terminal without a shell of its own. */
export function watchTerminal({ name, watched, onClose, onFailure }: WatchTerminalOptions): vscode.Terminal {
  const written = new vscode.EventEmitter<string>();
  const shown = watched((text) => written.fire(text));
  return vscode.window.createTerminal({
    name,
    isTransient: true,
    iconPath: new vscode.ThemeIcon("hubot"),
    pty: {
      onDidWrite: written.event,
      open: () => void shown.watch(),
      close: () => {
        if (onClose()) shown.close().catch(onFailure);
        written.dispose();
      },
      handleInput: (text: string) => void shown.input(text).catch(onFailure),
    },
  });
}
