import { type Model, ModelError } from "@gennai/agent/model";

export type ModelTrial =
  | { readonly answered: true; readonly milliseconds: number }
  | { readonly answered: false; readonly milliseconds: number; readonly problem: string; readonly hint: string };

/** Milliseconds: a model of one's own may have to be loaded first. */
const timeoutMs = 60_000;

/** Asks a model for a word. Never rejects: what nobody expected is told to `onUnexpectedError`, and in plain words to the person. */
export async function tryModel(
  load: () => Promise<Model>,
  { signal, onUnexpectedError }: { readonly signal: AbortSignal; readonly onUnexpectedError: (error: unknown) => void },
): Promise<ModelTrial> {
  const began = performance.now();
  const since = (): number => Math.round(performance.now() - began);
  const timeout = AbortSignal.timeout(timeoutMs);
  try {
    const model = await load();
    const answer = model.stream(
      {
        system: "Answer with one word.",
        messages: [{ role: "user", text: "Say hello." }],
        tools: [],
        enableThinking: false,
        // Enough for models that think all the same.
        maxOutputTokens: 512,
      },
      { signal: AbortSignal.any([signal, timeout]) },
    );
    for await (const event of answer) {
      // It answers: what it says does not matter.
      if (event.type === "text-delta" || event.type === "thinking-delta")
        return { answered: true, milliseconds: since() };
      // A person who waits for it is told at once.
      if (event.type !== "waiting" && event.type !== "restart") continue;
      return {
        answered: false,
        milliseconds: since(),
        problem: event.type === "waiting" ? event.problem : event.reason,
        hint: "Try again in a moment.",
      };
    }
    return { answered: false, milliseconds: since(), problem: "It said nothing.", hint: "Try another model." };
  } catch (error) {
    const milliseconds = since();
    if (timeout.aborted) {
      const problem = `It did not answer within ${timeoutMs / 1000} s.`;
      return {
        answered: false,
        milliseconds,
        problem,
        hint: "Try again: a model of your own may have to be loaded first.",
      };
    }
    if (signal.aborted) return { answered: false, milliseconds, problem: "It was stopped.", hint: "" };
    if (error instanceof ModelError) {
      return { answered: false, milliseconds, problem: error.message, hint: error.hint ?? "" };
    }
    // Its words may hold paths and addresses of the server.
    onUnexpectedError(error);
    const problem = "Something unexpected went wrong on the server.";
    return { answered: false, milliseconds, problem, hint: "The server's log says what." };
  }
}
