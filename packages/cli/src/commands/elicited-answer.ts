import type { ConfirmationQuestion, ConfirmationReply } from "@gennai/client/connection/editor";
import { fencedText } from "@gennai/client/session/text/fenced-text";
import { spelledOut } from "@gennai/protocol/hidden-characters";
import { type ConfirmationScope, explanationsOf } from "@gennai/protocol/model/governance/question";
import {
  type InputRequiredResult,
  inputRequired,
  inputResponse,
  type ServerContext,
} from "@modelcontextprotocol/server";
import * as z from "zod";

const no = "No";
const scopeNames: Readonly<Record<ConfirmationScope, string>> = {
  once: "Yes, once",
  turn: "Yes, for this call",
  session: "Yes, for this session",
  workspace: "Yes, in this workspace from now on",
};

/** The reason of the refusal if the client cannot ask; for its model and its user. */
export const howToAnswer =
  "This client cannot ask its user (it has no elicitation). Tell the user: no rule can allow it, so they have to do it themselves.";

/** Capabilities of a client that can put a form before its user: one that names no kind of elicitation has forms. */
const formsSchema = z.union([
  z.looseObject({ elicitation: z.strictObject({}) }),
  z.looseObject({ elicitation: z.looseObject({ form: z.looseObject({}) }) }),
]);

/** Whether a client with these capabilities can ask its user. */
export function hasForms(capabilities: unknown): boolean {
  return formsSchema.safeParse(capabilities).success;
}

/** A question of the gate as MCP's elicitation: in place of the result of a call, until the client calls again with an answer. */
export function elicitation(id: string, question: ConfirmationQuestion): Pick<InputRequiredResult, "inputRequests"> {
  const scopes = scopesOf(question).map((scope) => scopeNames[scope]);
  return {
    inputRequests: {
      [id]: inputRequired.elicit({
        message: words(question),
        requestedSchema: {
          type: "object",
          properties: { answer: { type: "string", title: "May this run?", enum: [...scopes, no] } },
          required: ["answer"],
        },
      }),
    },
  };
}

/** The answer that a call came back with; undefined: none to this question. Only what was offered is a yes. */
export function elicitedAnswer(
  id: string,
  question: ConfirmationQuestion,
  { mcpReq }: ServerContext,
): ConfirmationReply | undefined {
  const response = inputResponse(mcpReq.inputResponses, id);
  if (response.kind !== "elicit") return undefined;
  if (response.action === "cancel") return { answer: "nobody", reason: "The client closed the question." };
  const chosen = scopesOf(question).find((scope) => scopeNames[scope] === response.content?.["answer"]);
  return response.action === "accept" && chosen !== undefined
    ? { answer: "yes", scope: chosen }
    : { answer: "no", reason: "The client's user said no." };
}

function scopesOf({ offeredScopes }: ConfirmationQuestion): readonly ConfirmationScope[] {
  return ["once", ...offeredScopes.filter((scope) => scope !== "once")];
}

/** What the server computed, and what exactly would run. */
function words(question: ConfirmationQuestion): string {
  const { computed, actionStatement, diff, actionJson } = question;
  return [
    `${computed.risk} risk, computed by the server: ${spelledOut(actionStatement)}`,
    ...explanationsOf(question).map(({ text }) => spelledOut(text)),
    spelledOut(`${computed.reason} (${computed.rule})`),
    ...(diff === undefined ? [] : [fencedText(spelledOut(diff), "diff")]),
    `Exactly:\n\n${fencedText(spelledOut(actionJson), "json")}`,
  ].join("\n\n");
}
