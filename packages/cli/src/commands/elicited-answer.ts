import type { ConfirmationQuestion, ConfirmationReply } from "@gennai/client/connection/editor";
import { fencedText } from "@gennai/client/session/text/fenced-text";
import { spelledOut } from "@gennai/protocol/hidden-characters";
import { type ConfirmationScope, explanationsOf } from "@gennai/protocol/model/governance/question";
import type { Server } from "@modelcontextprotocol/sdk/server/index.js";

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

/** Puts a question of the gate before the client's user, by MCP's elicitation. */
export async function elicitedAnswer(
  question: ConfirmationQuestion,
  server: Server,
  { signal }: { readonly signal: AbortSignal },
): Promise<ConfirmationReply> {
  if (server.getClientCapabilities()?.elicitation === undefined) return { answer: "nobody", reason: howToAnswer };
  const scopes: readonly ConfirmationScope[] = ["once", ...question.offeredScopes.filter((scope) => scope !== "once")];
  const result = await server.elicitInput(
    {
      message: words(question),
      requestedSchema: {
        type: "object",
        properties: {
          answer: { type: "string", title: "May this run?", enum: [...scopes.map((scope) => scopeNames[scope]), no] },
        },
        required: ["answer"],
      },
    },
    // A person may think about it for as long as the server lets them.
    { signal, timeout: 24 * 60 * 60 * 1000 },
  );
  if (result.action === "cancel") return { answer: "nobody", reason: "The client closed the question." };
  const chosen = scopes.find((scope) => scopeNames[scope] === result.content?.["answer"]);
  return result.action === "accept" && chosen !== undefined
    ? { answer: "yes", scope: chosen }
    : { answer: "no", reason: "The client's user said no." };
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
