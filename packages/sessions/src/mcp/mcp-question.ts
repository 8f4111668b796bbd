import { type Endpoint, endpointOf, isLoopback } from "@gennai/governance/endpoint";
import { visibleText } from "@gennai/machine/web/visible-text";
import { isRecord } from "@gennai/protocol/json-value";
import type { UserAnswer, UserQuestion } from "@gennai/protocol/model/session/user-question";
import type { ElicitRequestFormParams, ElicitRequestURLParams, ElicitResult } from "@modelcontextprotocol/client";
import * as z from "zod";
import type { AskedUser, UserAsker } from "../bridge/session-bridge.ts";
import type { McpServer } from "./mcp-config.ts";
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
  /** Why nobody was asked. */
  readonly refusal?: string;
}

type Asking = Pick<McpServer, "name" | "start">;

/**
 * Puts a server's question before the user, as one of the server's: what they answer goes to it, and permits nothing. Anything but a
 * clear answer is none.
 */
export async function askForServer(
  server: Asking,
  params: ElicitRequestFormParams | ElicitRequestURLParams,
  user: UserAsker,
  options: { readonly signal: AbortSignal },
): Promise<AskedByServer> {
  return params.mode === "url" ? askToOpen(server, params, user, options) : askFields(server, params, user, options);
}

/**
 * An address that a user may be asked to open: of the web, or of this machine; undefined for any other, and for one that begins with
 * a name, which looks like another host's.
 */
export function openable(address: string): URL | undefined {
  const url = URL.parse(address);
  if (url === null || url.username !== "" || url.password !== "") return undefined;
  const place = placeOf(url);
  if (place === undefined) return undefined;
  return url.protocol === "https:" || (url.protocol === "http:" && isLoopback(place)) ? url : undefined;
}

/** undefined: its host is neither a plain name nor an address. */
function placeOf({ hostname, protocol, port }: URL): Endpoint | undefined {
  return endpointOf(hostname, Number(port) || (protocol === "http:" ? 80 : 443));
}

function isHere(url: URL): boolean {
  const place = placeOf(url);
  return place !== undefined && isLoopback(place);
}

/** A server elsewhere has no business with the programs of this machine. */
function openableFor({ start }: Asking, address: string): URL | undefined {
  const url = openable(address);
  const isNear = start.type === "program" || isHere(new URL(start.url));
  return url !== undefined && (isNear || !isHere(url)) ? url : undefined;
}

/** The user opens the address; nothing here does. */
async function askToOpen(
  server: Asking,
  { message, url }: ElicitRequestURLParams,
  user: UserAsker,
  options: { readonly signal: AbortSignal },
): Promise<AskedByServer> {
  const place = openableFor(server, url);
  if (place === undefined) return refused(server, "wanted an address opened that is none of the web");
  const labels = ["I opened it", "No"].map((label) => ({ label, description: "" }));
  const text = `The MCP server ${server.name} wants you to open an address of ${place.host} in your browser: ${shown(message)}\n${place.href}`;
  const question = { question: text, header: server.name, options: labels, multiple: false };
  const asked = await user.askUser([question], options);
  if (asked.end !== "answered") return unanswered(asked);
  const isOpened = asked.answers[0]?.chosen[0] === 0;
  return { result: { action: isOpened ? "accept" : "decline" }, end: "answered", by: asked.by };
}

async function askFields(
  server: Asking,
  { message, requestedSchema }: ElicitRequestFormParams,
  user: UserAsker,
  options: { readonly signal: AbortSignal },
): Promise<AskedByServer> {
  const fields = Object.entries(requestedSchema.properties).map(([name, schema]) => fieldOf(name, schema));
  if (fields.length > maxFields) return refused(server, `asked more than ${maxFields} things at once`);
  const written = fields.filter(({ isWritten }) => isWritten);
  if (written.some(({ name, question }) => [message, name, question.question].some(asksForSecret)))
    return refused(server, "asked for a secret in a form, where it would be kept");
  const content: Record<string, string | number | boolean | string[]> = {};
  let by = "";
  for (let from = 0; from < Math.max(fields.length, 1); from += maxAtOnce) {
    const some = fields.slice(from, from + maxAtOnce);
    const intro = `The MCP server ${server.name} asks: ${shown(message)}`;
    const questions: readonly UserQuestion[] =
      some.length === 0
        ? [{ question: intro, header: server.name, options: [{ label: "Yes", description: "" }], multiple: false }]
        : some.map(({ question }) => ({
            ...question,
            header: server.name,
            question: `${intro}\n${question.question}`,
          }));
    const asked = await user.askUser(questions, options);
    if (asked.end !== "answered") return unanswered(asked);
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
  /** Answered in the user's own words. */
  readonly isWritten: boolean;
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
    isWritten: choices.length === 0,
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

const secretWords =
  /\b(?:pass ?w(?:or)?d|pass ?(?:phrase|code|key)|pwd|secret|token|(?:api|access|private|secret|license|recovery) ?key|credential|otp|pin|cv[vc]|card number|(?:one time|security|verification|authentication|login|backup|recovery|[2m]fa) code)s?\d*\b/i;

/** By the specification no form may (client/elicitation, Security): answers are in logs. */
function asksForSecret(text: string): boolean {
  const words = text.replaceAll(/(?<=\p{Ll})(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})|[\s_\p{Pd}]+/gu, " ");
  return secretWords.test(words);
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

function unanswered(asked: Exclude<AskedUser, { readonly end: "answered" }>): AskedByServer {
  return { result: { action: "cancel" }, end: asked.end, by: "by" in asked ? asked.by : "" };
}

function refused({ name }: Asking, what: string): AskedByServer {
  const refusal = `Nobody was asked: the MCP server ${name} ${what}.`;
  return { result: { action: "decline" }, end: "cancelled", by: "", refusal };
}
