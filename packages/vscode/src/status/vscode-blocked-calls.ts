import type { Violation } from "@gennai/client/view/items/view-item";
import * as vscode from "vscode";
import { showWarning } from "../editor/notifications.ts";
import type { GennaiSettings } from "../settings/settings.ts";
import { BlockedCalls } from "./blocked-calls.ts";

/** Notifications of VS Code about calls that damage control blocked. */
export function vsCodeBlockedCalls(options: {
  readonly settings: () => GennaiSettings;
  readonly showRule: (call: Violation) => Promise<void>;
}): BlockedCalls {
  return new BlockedCalls({
    isQuiet() {
      const { notifications, notifyBlockedCalls } = options.settings();
      return !notifications || !notifyBlockedCalls;
    },
    show: async (message, buttons) => showWarning(message, ...buttons),
    showRule: options.showRule,
    quiet: async () => {
      await vscode.workspace
        .getConfiguration("gennai")
        .update("notifyBlockedCalls", false, vscode.ConfigurationTarget.Global);
    },
    after: (milliseconds, callback) => {
      const timer = setTimeout(callback, milliseconds);
      return () => clearTimeout(timer);
    },
  });
}
