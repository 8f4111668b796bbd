import type { ModelAnswer } from "./ask-model.ts";
import { writesCall } from "./written-call.ts";

/** What to do after an answer without calls. */
export type AnswerFinding =
  /** The answer is complete. `text` is the full text, also if it came in several parts. */
  | { readonly type: "answered"; readonly text: string }
  /** The model must be asked again. `note` is for the model, `reason` for people. */
  | { readonly type: "again"; readonly reason: string; readonly note: string | undefined }
  | { readonly type: "failed"; readonly code: string; readonly message: string; readonly hint: string };

/** How often in a row the model is asked again for one reason. */
const most = { empty: 2, malformed: 3, written: 1, cut: 4, pause: 20 } as const;
const none = { empty: 0, malformed: 0, written: 0, cut: 0, pause: 0 };

/** Judges answers without calls in one turn: an empty one must not look like success. */
export class UnfinishedAnswers {
  #pieces = "";
  readonly #tools: readonly string[];
  #times: Record<keyof typeof most, number> = { ...none };

  /** @param tools names of those that the model has */
  constructor(tools: readonly string[]) {
    this.#tools = tools;
  }

  judge({ text, finish }: Pick<ModelAnswer, "text" | "finish">): AnswerFinding {
    const said = text.trim() !== "";
    switch (finish) {
      case "content-filter":
        return {
          type: "failed",
          code: "answer_refused",
          message: "The model, or its provider's filter, refused to answer.",
          hint: "Ask otherwise. What was said stays in later requests: clear the session if it goes on, or use another model.",
        };
      case "malformed":
        return this.#again("malformed", undefined) ?? malformed;
      case "pause":
        this.#pieces += text;
        return this.#again("pause", undefined) ?? cut;
      case "length":
        this.#pieces += text;
        return this.#again("cut", said ? goOn : beShort) ?? cut;
      default:
        if (said && writesCall(text, this.#tools)) return this.#again("written", callProperly) ?? written;
        if (said) return { type: "answered", text: this.#pieces + text };
        return this.#again("empty", sayWords) ?? empty;
    }
  }

  /** The turn made progress: earlier failures no longer count. */
  progress(): void {
    this.#pieces = "";
    this.#times = { ...none };
  }

  #again(what: keyof typeof most, note: string | undefined): AnswerFinding | undefined {
    this.#times[what] += 1;
    return this.#times[what] > most[what] ? undefined : { type: "again", reason: reasons[what], note };
  }
}

const reasons: Readonly<Record<keyof typeof most, string>> = {
  empty: "The model answered nothing; it is asked again.",
  malformed: "The model wrote a call that cannot be read.",
  written: "The model wrote a call as text, which runs nothing; it is asked again.",
  cut: "The model's answer was cut off at its output limit; it is asked to go on.",
  pause: "The model paused; it is asked to go on.",
};

const goOn = "[From the server: your answer was cut off at the output limit. Go on exactly where it stopped.]";
const beShort =
  "[From the server: you reached the output limit before you said anything. Think less, and answer or call a tool now.]";
const sayWords = "[From the server: your answer was empty. Go on with the task; if it is done, say so in a sentence.]";
const callProperly =
  "[From the server: you wrote a call as text, and nothing ran. Call the tool by the API's own way of calling tools, or answer in words.]";

const empty: AnswerFinding = {
  type: "failed",
  code: "answer_empty",
  message: "The model ended the turn without a word, also when it was asked again.",
  hint: "Ask it to continue, or use another model.",
};
const malformed: AnswerFinding = {
  type: "failed",
  code: "answer_malformed",
  message: "The model wrote calls that cannot be read, again and again.",
  hint: "Ask it to continue, or use a model that is better at calling tools.",
};
const written: AnswerFinding = {
  type: "failed",
  code: "answer_malformed",
  message: "The model writes its calls as text, also when it is asked again, so nothing runs.",
  hint: "Use a model that calls tools, or turn that on at its server (vLLM: --enable-auto-tool-choice, llama.cpp: --jinja).",
};
const cut: AnswerFinding = {
  type: "failed",
  code: "answer_cut",
  message: "The model's answer was cut off at its output limit, again and again.",
  hint: "Raise max_tokens in the session's settings, or ask for less at once.",
};
