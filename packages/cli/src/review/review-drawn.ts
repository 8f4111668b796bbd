import { isKeyRelease } from "@earendil-works/pi-tui";
import type { ReviewState } from "@gennai/client/host/review-state";
import type { Proposal } from "@gennai/protocol/model/session/proposal";
import { InlineScreen } from "../screen/inline-screen.ts";
import { LentTerminal } from "../screen/lent-terminal.ts";
import { OwnTerminal } from "../screen/own-terminal.ts";
import type { Paint } from "../terminal/colours.ts";
import type { LineInput } from "../terminal/line-input.ts";
import { editHunk } from "./review-at-terminal.ts";
import { ReviewView } from "./review-view.ts";

/** Reviews a proposal on the whole of the process's terminal, of which a command only reads lines. undefined: it was left. */
export async function reviewDrawn(
  proposal: Proposal,
  options: {
    readonly input: Pick<LineInput, "suspend">;
    readonly paint: Paint;
    readonly environment: NodeJS.ProcessEnv;
    readonly signal: AbortSignal;
    readonly apart: ReadonlySet<string>;
  },
): Promise<ReviewState | undefined> {
  const { paint, environment, signal, apart } = options;
  using _lines = options.input.suspend();
  using terminal = new OwnTerminal(
    environment,
    (data) => {
      if (!isKeyRelease(data)) lent.view?.handle(data);
      lent.draw();
    },
    () => lent.draw({ isWhole: true }),
  );
  const screen = new InlineScreen(terminal, () => ({ lines: [], cursor: { row: 0, column: 0 } }));
  const lent = new LentTerminal(terminal, screen);
  const input = { suspend: () => lent.suspend() };
  const write = (text: string): void => screen.print(text.trimEnd().split("\n"));
  terminal.start();
  try {
    return await lent.onWhole<ReviewState | undefined>((done) => {
      signal.addEventListener("abort", () => done(undefined), { once: true });
      return new ReviewView(proposal, paint, {
        done,
        apart,
        edit: (change, hunk) => editHunk(hunk, change.path, { input, write, environment }),
        refresh: () => lent.draw(),
      });
    });
  } finally {
    screen.clear();
  }
}
