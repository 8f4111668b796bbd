import type { PermissionOption, RequestPermissionOutcome, ToolCallContent } from "@agentclientprotocol/sdk";
import type { ConfirmationQuestion, ConfirmationReply } from "@gennai/client/host/editor";
import { fencedText } from "@gennai/client/session/text/fenced-text";
import { spelledOut } from "@gennai/protocol/hidden-characters";
import { droppedForRest } from "@gennai/protocol/model/governance/offered-parts";
import { type ConfirmationScope, explanationsOf } from "@gennai/protocol/model/governance/question";

/** One answer that an editor can offer, and what it means to the gate. */
interface OfferedAnswer {
  readonly option: PermissionOption;
  readonly reply: ConfirmationReply;
}

const scopeNames: Readonly<Record<ConfirmationScope, string>> = {
  once: "Allow once",
  turn: "Allow for this turn",
  session: "Allow for this session",
  workspace: "Allow in this workspace from now on",
};

/** The answers to a question of the gate, the narrowest first. Only what the server offered is among them. */
export function permissionOptions(question: ConfirmationQuestion): readonly PermissionOption[] {
  return answersTo(question).map(({ option }) => option);
}

/** What a person chose; undefined for an answer that was not offered. */
export function confirmationReply(
  question: ConfirmationQuestion,
  outcome: RequestPermissionOutcome,
): ConfirmationReply {
  if (outcome.outcome === "cancelled") return { answer: "nobody", reason: "The editor closed the question." };
  const chosen = answersTo(question).find(({ option }) => option.optionId === outcome.optionId);
  return chosen?.reply ?? { answer: "nobody", reason: "The editor gave an answer that was not offered." };
}

/** The question as an editor shows it: what the server computed first, and what the model claims apart from it. */
export function questionContent(question: ConfirmationQuestion): readonly ToolCallContent[] {
  const { computed, actionStatement, modelClaim, diff, actionJson } = question;
  const facts = [
    `**${computed.risk} risk**, computed by the server`,
    fencedText(spelledOut(actionStatement)),
    ...explanationsOf(question).map(({ text }) => fencedText(spelledOut(text))),
    fencedText(spelledOut(`${computed.reason} (${computed.rule})`)),
    ...(diff === undefined ? [] : [fencedText(spelledOut(diff), "diff")]),
    `Exactly:\n\n${fencedText(spelledOut(actionJson), "json")}`,
  ];
  const claim = modelClaim === "" ? [] : [text(`The model claims:\n\n${fencedText(spelledOut(modelClaim))}`)];
  return [text(facts.join("\n\n")), ...claim];
}

function text(markdown: string): ToolCallContent {
  return { type: "content", content: { type: "text", text: markdown } };
}

function answersTo(question: ConfirmationQuestion): readonly OfferedAnswer[] {
  const scopes: readonly ConfirmationScope[] = ["once", ...question.offeredScopes.filter((scope) => scope !== "once")];
  const rest = question.parts && droppedForRest(question.parts);
  return [
    ...scopes.map((scope) => allowed(scope, scopeNames[scope], scope, { answer: "yes", scope })),
    ...(rest === undefined
      ? []
      : [allowed("rest", "Keep the rest, without what is asked about", "once", yesOnce(rest))]),
    ...(question.patterns ?? []).flatMap(({ id, text: pattern }) =>
      scopes
        .filter((scope) => scope === "turn" || scope === "session")
        .map((scope) =>
          allowed(`${scope}:${id}`, `${scopeNames[scope]}: ${spelledOut(pattern)}`, scope, {
            answer: "yes",
            scope,
            pattern: id,
          }),
        ),
    ),
    {
      option: { optionId: "deny", name: "Deny", kind: "reject_once" },
      reply: { answer: "no", reason: "Denied in the editor." },
    },
  ];
}

function yesOnce(dropped: readonly string[]): ConfirmationReply {
  return { answer: "yes", scope: "once", dropped };
}

function allowed(optionId: string, name: string, scope: ConfirmationScope, reply: ConfirmationReply): OfferedAnswer {
  return { option: { optionId, name, kind: scope === "once" ? "allow_once" : "allow_always" }, reply };
}
