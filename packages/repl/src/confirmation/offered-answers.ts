import type { ConfirmationQuestion, ConfirmationReply } from "@gennai/client/host/editor";
import { droppedForRest } from "@gennai/protocol/model/governance/offered-parts";
import type { ConfirmationScope } from "@gennai/protocol/model/governance/question";

/** A yes that a person can give, by a button of its own. */
export interface OfferedAnswer {
  readonly name: string;
  readonly words: string;
  readonly reply: ConfirmationReply;
}

/**
 * @param chosen.pattern id of the offered pattern for a lasting yes; undefined: the exact action
 * @param chosen.dropped ids of parts not to keep: such a yes counts once
 */
export function offeredAnswers(
  { offeredScopes, parts = [] }: ConfirmationQuestion,
  { pattern, dropped }: { readonly pattern: string | undefined; readonly dropped: ReadonlySet<string> },
): readonly OfferedAnswer[] {
  if (dropped.size > 0) {
    if (dropped.size === parts.length) return [];
    return [
      { name: "ticked", words: "Keep what is ticked", reply: { answer: "yes", scope: "once", dropped: [...dropped] } },
    ];
  }
  const scopes = offeredScopes.length === 0 ? (["once"] as const) : offeredScopes;
  const rest = droppedForRest(parts);
  return [
    ...scopes.map((scope) => ({ name: scope, words: scopeWords[scope], reply: yes(scope, pattern) })),
    ...(rest === undefined
      ? []
      : [
          {
            name: "rest",
            words: "Keep the rest only",
            reply: { answer: "yes", scope: "once", dropped: rest } as const,
          },
        ]),
  ];
}

/** A yes for once, or for the workspace, is always for the exact action; another may be for a pattern. */
function yes(scope: ConfirmationScope, pattern: string | undefined): ConfirmationReply {
  const isExact = pattern === undefined || scope === "once" || scope === "workspace";
  return isExact ? { answer: "yes", scope } : { answer: "yes", scope, pattern };
}

const scopeWords: Record<ConfirmationScope, string> = {
  once: "Allow once",
  turn: "Allow for this turn",
  session: "Allow for this session",
  workspace: "Allow in this workspace",
};
