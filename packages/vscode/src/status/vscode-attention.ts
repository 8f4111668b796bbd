import * as vscode from "vscode";
import { showProgress } from "../editor/notifications.ts";
import { Attention } from "./attention.ts";

/**
 * Notifications of VS Code. They are shown as progress, because an extension can remove no other notification. They have no
 * buttons, so a link leads to the question.
 */
export function vsCodeAttention(options: {
  /** True if the user sees the question anyway, or wants no notifications. */
  readonly isSeen: () => boolean;
}): Attention {
  return new Attention({
    isSeen: options.isSeen,
    show: (first) => {
      const over = Promise.withResolvers<void>();
      let say: (message: string) => void = () => undefined;
      const place = { location: vscode.ProgressLocation.Notification, title: "Gennai asks" };
      void showProgress(place, (report) => {
        say = (message) => report(message, { label: "Show the question", command: "gennai.openRepl" });
        say(first);
        return over.promise;
      });
      return { say: (message) => say(message), close: over.resolve };
    },
    now: () => performance.now(),
    after: (milliseconds, callback) => {
      const timer = setTimeout(callback, milliseconds);
      return () => clearTimeout(timer);
    },
  });
}
