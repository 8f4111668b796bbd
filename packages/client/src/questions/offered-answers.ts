import { droppedForRest } from "@gennai/protocol/model/governance/offered-parts";
import type { ConfirmationScope } from "@gennai/protocol/model/governance/question";
import type { ConfirmationQuestion, ConfirmationReply } from "../connection/editor.ts";

/** A yes that a person can give. */
export interface OfferedAnswer {
  /** A scope, `rest`, or `SCOPE:PATTERN` with the pattern's id. */
  readonly id: string;
  readonly words: string;
  readonly reply: Extract<ConfirmationReply, { readonly answer: "yes" }>;
}

/** All of a question, the narrowest first; those for a pattern come last. */
export function offeredAnswers(question: ConfirmationQuestion): readonly OfferedAnswer[] {
  const { offeredScopes, parts = [], patterns = [] } = question;
  const rest = droppedForRest(parts);
  return [
    ...offeredScopes.map((scope) => ({
      id: scope,
      words: scopeWords[scope],
      reply: { answer: "yes", scope } as const,
    })),
    ...(rest === undefined ? [] : [{ id: "rest", words: "Keep the rest only", reply: keptWithout(rest) }]),
    ...patterns.flatMap(({ id: pattern, text }) =>
      offeredScopes
        .filter((scope) => scope === "turn" || scope === "session")
        .map((scope) => ({
          id: `${scope}:${pattern}`,
          words: `${scopeWords[scope]}: ${text}`,
          reply: { answer: "yes", scope, pattern } as const,
        })),
    ),
  ];
}

/** @param dropped ids of parts; such a yes counts once */
export function keptWithout(dropped: readonly string[]): OfferedAnswer["reply"] {
  return { answer: "yes", scope: "once", dropped };
}

const scopeWords: Record<ConfirmationScope, string> = {
  once: "Allow once",
  turn: "Allow for this turn",
  session: "Allow for this session",
  workspace: "Allow in this workspace",
};
