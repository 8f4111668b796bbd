import type { Analysis, ExecutionContext } from "@gennai/governance/tool";
import { errorMessage } from "@gennai/protocol/error-message";
import type { BackgroundRun, OnOutput } from "@gennai/shell/background/background-run";
import type { UserAsker } from "../bridge/session-bridge.ts";
import type { McpCallOptions, McpResult } from "./mcp-connection.ts";

/** Milliseconds that a call waits for a task of its server's, without the time in which a person is asked. */
export const longestWait = 60_000;

/** Where a session's tasks go on. */
export interface TaskBackground {
  /** Rejects with `ToolFailure` where there are too many. @returns in words, e.g. `b1 runs` */
  takeOn(
    text: string,
    call: { readonly toolName: string; readonly analysis: Analysis },
    start: (onOutput: OnOutput) => BackgroundRun,
  ): Promise<string>;
}

interface Surroundings extends Pick<McpCallOptions, "onAsked"> {
  readonly user: UserAsker;
  readonly context: Pick<ExecutionContext, "signal" | "onOutput">;
  /** Takes what is started on as background work of the session; undefined if that cannot be. */
  takeOn(start: (onOutput: OnOutput) => BackgroundRun): Promise<string> | undefined;
}

/** A user who is asked until then, and there no more, also what is open. */
export function askedUntil(over: AbortSignal, user: UserAsker): UserAsker {
  return {
    async askUser(questions, { signal }) {
      if (over.aborted) return { end: "nobody" };
      return user.askUser(questions, { signal: AbortSignal.any([signal, over]) }).catch((error: unknown) => {
        if (!over.aborted) throw error;
        return { end: "nobody" };
      });
    },
  };
}

/**
 * The result of a call; of a task that takes long, what the model is told of it. That one goes on in the background, and ends with
 * the session; who answers its server there is told at its end.
 */
export async function orInBackground(
  call: (options: McpCallOptions) => Promise<McpResult>,
  { user, context, onAsked, takeOn }: Surroundings,
): Promise<McpResult | { readonly run: string }> {
  const stopping = new AbortController();
  const stop = () => stopping.abort(context.signal.reason);
  context.signal.addEventListener("abort", stop, { once: true });
  if (context.signal.aborted) stop();
  const waited = Promise.withResolvers<undefined>();
  let timer: NodeJS.Timeout | undefined;
  let isTask = false;
  const answered: string[] = [];
  let print = (text: string): void => context.onOutput(text);
  const wait = (): void => {
    if (isTask) timer = setTimeout(() => waited.resolve(undefined), longestWait);
  };
  const result = call({
    signal: stopping.signal,
    onOutput: (text) => print(text),
    onAsked(asked) {
      onAsked(asked);
      if (asked.end === "answered") answered.push(asked.by);
    },
    onTask() {
      isTask = true;
      wait();
    },
    user: {
      async askUser(...asked) {
        clearTimeout(timer);
        return user.askUser(...asked).finally(wait);
      },
    },
  });
  try {
    const first = await Promise.race([result, waited.promise]);
    if (first !== undefined) return first;
    const run = await takeOn((onOutput) => {
      print = onOutput;
      answered.length = 0;
      const end = result.then(
        ({ text, images, isError }) => {
          onOutput(text, images);
          const by = answered.map((name) => `; ${name} answered a question`).join("");
          return { how: `${isError ? "it reported an error" : "its result is there"}${by}` };
        },
        (error: unknown) => ({ how: errorMessage(error) }),
      );
      return {
        ended: end,
        begun: Promise.resolve(),
        over: end.then(() => undefined),
        isPartial: false,
        stop() {
          stopping.abort(new Error("it was stopped"));
          return end;
        },
      };
      // Where there are too many already, it is waited for.
    })?.catch(() => undefined);
    return run === undefined
      ? await result
      : { run: `[${run}, as a task of its server; BashOutput reads its result, KillShell ends it]` };
  } finally {
    clearTimeout(timer);
    context.signal.removeEventListener("abort", stop);
  }
}
