import * as vscode from "vscode";
import { Attention } from "./attention.ts";

/** Notifications of VS Code. */
export function vsCodeAttention(options: {
  /** True when the user sees the question anyway, or wants no notifications. */
  readonly isSeen: () => boolean;
  readonly reveal: () => Promise<void>;
}): Attention {
  return new Attention({
    isSeen: options.isSeen,
    show: async (message) => {
      if ((await vscode.window.showWarningMessage(message, "Show")) === "Show") await options.reveal();
    },
    now: () => performance.now(),
    after: (milliseconds, callback) => {
      const timer = setTimeout(callback, milliseconds);
      return () => clearTimeout(timer);
    },
  });
}
