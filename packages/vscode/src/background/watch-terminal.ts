import * as vscode from "vscode";

/** Something that runs elsewhere, shown in a terminal. */
export interface Watched {
  /** Resolves when it has ended, or nobody watches any more. Never rejects. */
  watch(): Promise<void>;
  /** What its user typed. */
  input(text: string): Promise<void>;
  /** The terminal is gone. */
  close(): Promise<void>;
}

export interface WatchTerminalOptions {
  readonly name: string;
  /** @param write gets text for the terminal */
  watched(write: (text: string) => void): Watched;
  /** The terminal goes. True: its user closed it, and what is watched is told. */
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
