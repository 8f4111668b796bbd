import type { HostNotice } from "@gennai/client/host/host-messages";
import { sha256Hex } from "@gennai/protocol/digest";
import type * as vscode from "vscode";
import { showInformation } from "../editor/notifications.ts";
import { WindowClaim } from "./window-claim.ts";

export interface WindowRoleOptions {
  /** Absolute path, the same for every window of the workspace. */
  readonly claimFile: string;
  readonly log: Pick<vscode.LogOutputChannel, "info" | "warn">;
  /** Tells every REPL. */
  readonly notify: (notice: HostNotice) => void;
  readonly attachAgain: () => Promise<void>;
  /** Shows the role. */
  readonly show: () => void;
  readonly takeOver: () => Promise<void>;
}

/** Milliseconds without a report, since the extension host of a window that was just reloaded may live on for a moment. */
const timeoutMs = 15_000;

/** Decides whether this window works on the workspace, or only watches another one that does. */
export class WindowRole implements Disposable {
  readonly claim: WindowClaim;
  readonly #options: WindowRoleOptions;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(options: WindowRoleOptions) {
    this.#options = options;
    this.claim = new WindowClaim(options.claimFile, () => this.#changed());
  }

  get isWatching(): boolean {
    const { state } = this.claim;
    return state.type === "held" && state.pid !== 0;
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
  }

  #changed(): void {
    const { log, notify, attachAgain, show } = this.#options;
    log.info(
      this.isWatching
        ? "Another window works on this workspace: this one watches."
        : "This window works on the workspace.",
    );
    notify({ type: "role", watching: this.isWatching });
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#offer(), timeoutMs);
    void attachAgain().catch((error: unknown) =>
      log.warn("The connection to the session was not restored.", String(error)),
    );
    show();
  }

  async #offer(): Promise<void> {
    if (!this.isWatching) return;
    const message = "Another window works on this workspace. This one only watches.";
    if ((await showInformation(message, "Take Over")) !== undefined) await this.#options.takeOver();
  }
}

/**
 * The file of the claim. It is in the storage that all windows share: VS Code gives a second window of a workspace another
 * storage for the workspace.
 */
export function claimFile(globalStorage: string, root: string): string {
  return `${globalStorage}/windows/${sha256Hex(root).slice(0, 32)}.json`;
}
