import type { RedactionStream } from "../redaction.ts";
import type { CallContext } from "../tool.ts";
import type { GateOptions } from "./gate-options.ts";

/** Redacts what a running command prints before anyone sees it; pieces stay in order. */
export function liveOutput(
  context: CallContext,
  { journal, redactor }: Pick<GateOptions, "journal" | "redactor">,
): { push(text: string): void; end(): Promise<void> } {
  let stream: RedactionStream | undefined;
  let chain = Promise.resolve();
  const show = (text: string): void => {
    if (text !== "") journal.output(context.shownAs ?? context.callId, context.turnId, text);
  };
  return {
    push: (text) => {
      chain = chain.then(async () => {
        stream ??= redactor.stream();
        show(await stream.push(text));
      });
      // Told by `end`, which is awaited only once the command is over.
      chain.catch(() => undefined);
    },
    end: async () => {
      await chain;
      if (stream !== undefined) show(await stream.end());
    },
  };
}
