import { visibleText } from "@gennai/machine/web/visible-text";
import { isRecord } from "@gennai/protocol/json-value";
import type { UserAnswer, UserQuestion } from "@gennai/protocol/model/session/user-question";
import type { ElicitRequestFormParams, ElicitRequestURLParams, ElicitResult } from "@modelcontextprotocol/client";
import * as z from "zod";
import type { AskedUser, UserAsker } from "../bridge/session-bridge.ts";
import { checkableSchema } from "./mcp-schema.ts";

/** Questions put before a user at once. */
const maxAtOnce = 4;
const maxFields = 20;
const maxWords = 1_000;

/** A server's question in the course of a call, and who answered it. */
export interface AskedByServer {
  readonly result: ElicitResult;
  readonly end: AskedUser["end"];
  readonly by: string;
}

/**
 * Puts a server's question before the user, as one of the server's: what they answer goes to it, and permits nothing. Anything but a
 * clear answer is none.
 */
export async function askForServer(
  server: string,
  params: ElicitRequestFormParams | ElicitRequestURLParams,
  user: UserAsker,
  options: { readonly signal: AbortSignal },
): Promise<AskedByServer> {
  return params.mode === "url" ? askToOpen(server, params, user, options) : askFields(server, params, user, options);
}

/** An address that a user may be asked to open: of the web, or of this machine; undefined for any other. */
export function openable(address: string): URL | undefined {
  const url = URL.parse(address);
  const isLocal = url?.protocol === "http:" && ["127.0.0.1", "[::1]", "localhost"].includes(url.hostname);
  return url !== null && (url.protocol === "https:" || isLocal) ? url : undefined;
}

/** The user opens the address; nothing here does. */
async function askToOpen(
  server: string,
  { message, url }: ElicitRequestURLParams,
  user: UserAsker,
  options: { readonly signal: AbortSignal },
): Promise<AskedByServer> {
  const place = openable(url);
  if (place === undefined) return unanswered("cancelled", "decline");
  const labels = ["I opened it", "No"].map((label) => ({ label, description: "" }));
  const text = `The MCP server ${server} wants you to open an address of ${place.host} in your browser: ${shown(message)}\n${place.href}`;
  const question = { question: text, header: server, options: labels, multiple: false };
  const asked = await user.askUser([question], options);
  if (asked.end !== "answered") return unanswered(asked.end, "cancel", asked);
  const isOpened = asked.answers[0]?.chosen[0] === 0;
  return { result: { action: isOpened ? "accept" : "decline" }, end: "answered", by: asked.by };
}

async function askFields(
  server: string,
  { message, requestedSchema }: ElicitRequestFormParams,
  user: UserAsker,
  options: { readonly signal: AbortSignal },
): Promise<AskedByServer> {
  const fields = Object.entries(requestedSchema.properties).map(([name, schema]) => fieldOf(name, schema));
  if (fields.length > maxFields) return unanswered("cancelled", "decline");
  const content: Record<string, string | number | boolean | string[]> = {};
  let by = "";
  for (let from = 0; from < Math.max(fields.length, 1); from += maxAtOnce) {
    const some = fields.slice(from, from + maxAtOnce);
    const intro = `The MCP server ${server} asks: ${shown(message)}`;
    const questions: readonly UserQuestion[] =
      some.length === 0
        ? [{ question: intro, header: server, options: [{ label: "Yes", description: "" }], multiple: false }]
        : some.map(({ question }) => ({ ...question, header: server, question: `${intro}\n${question.question}` }));
    const asked = await user.askUser(questions, options);
    if (asked.end !== "answered") return unanswered(asked.end, "cancel", asked);
    by = asked.by;
    for (const [place, { name, value }] of some.entries()) {
      const answer = asked.answers[place];
      const given = answer === undefined ? undefined : value(answer);
      if (given !== undefined) content[name] = given;
    }
    if (some.length === 0 && asked.answers[0]?.chosen[0] !== 0)
      return { result: { action: "decline" }, end: "answered", by };
  }
  if (fields.length > 0 && Object.keys(content).length === 0)
    return { result: { action: "decline" }, end: "answered", by };
  const checkable = checkableSchema({ ...requestedSchema });
  const fits = checkable !== undefined && z.fromJSONSchema(checkable).safeParse(content).success;
  return { result: fits ? { action: "accept", content } : { action: "cancel" }, end: "answered", by };
}

interface Field {
  readonly name: string;
  readonly question: UserQuestion;
  value(answer: UserAnswer): string | number | boolean | string[] | undefined;
}

/** One property of a form: choices as options, and anything else in the user's own words. */
function fieldOf(name: string, schema: unknown): Field {
  const own = isRecord(schema) ? schema : {};
  const { type, title, description, items } = own;
  const isList = type === "array";
  const choices = type === "boolean" ? yesOrNo : choicesOf(isList && isRecord(items) ? items : own);
  const words = [title ?? name, description].filter((part) => typeof part === "string").map(shown);
  return {
    name,
    question: {
      question: words.join(": "),
      header: "",
      options: choices.map(({ label }) => ({ label, description: "" })),
      multiple: isList,
    },
    value({ chosen, text }) {
      const values = chosen.flatMap((place) => choices[place]?.value ?? []);
      if (isList) return values.map(String);
      const [first = text.trim()] = values;
      if (type === "number" || type === "integer") return first === "" ? undefined : Number(first);
      return first === "" ? undefined : first;
    },
  };
}

interface Choice {
  readonly label: string;
  readonly value: string | boolean;
}

const yesOrNo: readonly Choice[] = [
  { label: "Yes", value: true },
  { label: "No", value: false },
];

const titled = z.array(z.object({ const: z.string(), title: z.string().optional() })).optional();
const choicesSchema = z.object({
  enum: z.array(z.string()).default([]),
  enumNames: z.array(z.string()).default([]),
  oneOf: titled,
  anyOf: titled,
});

function choicesOf(schema: Readonly<Record<string, unknown>>): readonly Choice[] {
  const { data } = choicesSchema.safeParse(schema);
  const named = data?.oneOf ?? data?.anyOf ?? [];
  return [
    ...(data?.enum ?? []).map((value, place) => ({ label: shown(data?.enumNames[place] ?? value), value })),
    ...named.map((one) => ({ label: shown(one.title ?? one.const), value: one.const })),
  ];
}

function shown(text: string): string {
  return visibleText(text).replaceAll(/\s+/g, " ").slice(0, maxWords);
}

function unanswered(
  end: AskedUser["end"],
  action: "cancel" | "decline",
  asked?: Exclude<AskedUser, { readonly end: "answered" }>,
): AskedByServer {
  return { result: { action }, end, by: asked !== undefined && "by" in asked ? asked.by : "" };
}
