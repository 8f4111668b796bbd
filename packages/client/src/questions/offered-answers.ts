import { droppedForRest } from "@gennai/protocol/model/governance/offered-parts";
import type { ConfirmationScope } from "@gennai/protocol/model/governance/question";
import type { ConfirmationQuestion, ConfirmationReply } from "../connection/editor.ts";
import { questionWords } from "./question-words.ts";

/** A yes that a person can give. */
export interface OfferedAnswer {
  /** A scope, `rest`, or `SCOPE:PATTERN` with the pattern's id. */
  readonly id: string;
  readonly words: string;
  /** How long it lasts, and for what, e.g. `for this turn`. */
  readonly lasts: string;
  readonly reply: Extract<ConfirmationReply, { readonly answer: "yes" }>;
}

/** All of a question, the narrowest first; those for a pattern come last. */
export function offeredAnswers(question: ConfirmationQuestion): readonly OfferedAnswer[] {
  const { offeredScopes, parts = [], patterns = [] } = question;
  const rest = droppedForRest(parts);
  const { yes } = questionWords(question);
  const offered = (id: string, lasts: string, reply: OfferedAnswer["reply"]): OfferedAnswer => {
    return { id, lasts, words: id === "once" ? yes : `${yes} ${lasts}`, reply };
  };
  return [
    ...offeredScopes.map((scope) => offered(scope, lastingWords[scope], { answer: "yes", scope })),
    ...(rest === undefined ? [] : [{ ...offered("rest", "once", keptWithout(rest)), words: "Keep the rest only" }]),
    ...patterns.flatMap(({ id: pattern, text }) =>
      offeredScopes
        .filter((scope) => scope === "turn" || scope === "session")
        .map((scope) =>
          offered(`${scope}:${pattern}`, `${lastingWords[scope]}: all like ${text}`, { answer: "yes", scope, pattern }),
        ),
    ),
  ];
}

/** @param dropped ids of parts; such a yes counts once */
export function keptWithout(dropped: readonly string[]): OfferedAnswer["reply"] {
  return { answer: "yes", scope: "once", dropped };
}

const lastingWords: Record<ConfirmationScope, string> = {
  once: "once",
  turn: "for this turn",
  session: "for this session",
  workspace: "in this workspace",
};
