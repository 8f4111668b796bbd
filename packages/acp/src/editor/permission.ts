import type { PermissionOption, RequestPermissionOutcome, ToolCallContent } from "@agentclientprotocol/sdk";
import type { ConfirmationQuestion, ConfirmationReply } from "@gennai/client/connection/editor";
import { offeredAnswers } from "@gennai/client/questions/offered-answers";
import { questionWords } from "@gennai/client/questions/question-words";
import { fencedText } from "@gennai/client/session/text/fenced-text";
import { spelledOut } from "@gennai/protocol/hidden-characters";
import { explanationsOf } from "@gennai/protocol/model/governance/question";

/** The answers to a question of the gate, the narrowest first. Only what the server offered is among them. */
export function permissionOptions(question: ConfirmationQuestion): readonly PermissionOption[] {
  return [
    ...offeredAnswers(question).map(({ id, words, reply }): PermissionOption => {
      const kind = reply.scope === "once" ? "allow_once" : "allow_always";
      return { optionId: id, name: spelledOut(words), kind };
    }),
    { optionId: "deny", name: questionWords(question).no, kind: "reject_once" },
  ];
}

/** What a person chose; what was not offered is nobody's answer. */
export function confirmationReply(
  question: ConfirmationQuestion,
  outcome: RequestPermissionOutcome,
): ConfirmationReply {
  if (outcome.outcome === "cancelled") return { answer: "nobody", reason: "The editor closed the question." };
  if (outcome.optionId === "deny") return { answer: "no", reason: "Denied in the editor." };
  const chosen = offeredAnswers(question).find(({ id }) => id === outcome.optionId);
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
