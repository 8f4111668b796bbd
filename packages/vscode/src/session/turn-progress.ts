import type { RunningTurn } from "@gennai/client/view/session-facts";
import { turnWords } from "@gennai/client/view/turn-words";
import * as vscode from "vscode";
import { showProgress } from "../editor/notifications.ts";
import { plainMessage } from "../editor/plain-message.ts";

interface ShownTurn {
  readonly turnId: string;
  readonly end: () => void;
  readonly report: (doing: string) => void;
}

/** Shows that a turn runs: above the REPL's view, and, if the REPL is not visible, as a notification that can cancel it. */
export class TurnProgress implements Disposable {
  readonly #isSeen: () => boolean;
  readonly #stop: () => void;
  #shown: ShownTurn | undefined;

  constructor(options: { readonly isSeen: () => boolean; readonly stop: () => void }) {
    this.#isSeen = options.isSeen;
    this.#stop = options.stop;
  }

  update(turn: RunningTurn | undefined): void {
    if (turn?.turnId !== this.#shown?.turnId) {
      this.#shown?.end();
      this.#shown = turn === undefined ? undefined : this.#show(turn.turnId);
    }
    if (turn !== undefined) this.#shown?.report(turnWords(turn));
  }

  [Symbol.dispose](): void {
    this.update(undefined);
  }

  #show(turnId: string): ShownTurn {
    const ended = Promise.withResolvers<void>();
    let report: (doing: string) => void = () => undefined;
    void showProgress({ location: { viewId: "gennai.repl" } }, () => ended.promise);
    if (!this.#isSeen()) {
      void showProgress(
        { location: vscode.ProgressLocation.Notification, title: "Gennai works", cancellable: true },
        (say, cancel) => {
          report = (doing) => say(plainMessage(doing));
          cancel.onCancellationRequested(() => this.#stop());
          return ended.promise;
        },
      );
    }
    return { turnId, end: ended.resolve, report: (doing) => report(doing) };
  }
}
