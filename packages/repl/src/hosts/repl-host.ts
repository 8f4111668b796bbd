import type { Transport } from "@connectrpc/connect";
import type { HostNotice, ReplLaunch } from "@gennai/client/host/host-messages";
import type { ReviewState } from "@gennai/client/host/review-state";
import type { WindowActions } from "@gennai/client/host/window-requests";

/**
 * The environment of the REPL app: a webview of an editor, or a page from the server. The app gets everything beyond its own
 * screen from here, and offers only what the host supports: without an action of a window, the server does it, or it is not offered.
 */
export interface ReplHost extends Partial<Omit<WindowActions, "keepModel">>, Pick<WindowActions, "keepModel"> {
  readonly kind: "editor" | "page";
  /** Transport to the server. An editor's goes through the extension host, which has the token. */
  readonly transport: Transport;
  readonly launch: ReplLaunch;
  /** Keeps what the app wants to find again after a reload: JSON, at most 64 KiB. */
  saveState(state: unknown): void;
  /**
   * Tells what the user decided about a proposal so far, whenever that changes. undefined: the app keeps it itself, in its
   * state.
   */
  readonly saveReview?: (state: ReviewState) => void;
  /** Told which session the app shows, whenever it shows another one; empty: none yet. */
  showsSession(sessionId: string): void;
  /** Browsers that may come in without a link; only where the server remembers some. */
  readonly devices?: RememberedDevices;
  /** Listens to notices from the host. Returns a function that stops listening. */
  onNotice(listener: (notice: HostNotice) => void): () => void;
}

/** Each rejects where the server does not answer. */
export interface RememberedDevices {
  /** Times in milliseconds since the epoch. */
  list(): Promise<
    readonly { readonly id: string; readonly name: string; readonly used: number; readonly expires: number }[]
  >;
  /** The id of this browser, if it is one of them. */
  own(): Promise<string | undefined>;
  remember(): Promise<void>;
  forget(id: string): Promise<void>;
}
