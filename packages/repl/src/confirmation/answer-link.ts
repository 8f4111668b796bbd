import type { ConfirmationQuestion, ConfirmationReply } from "@gennai/client/connection/editor";
import { PAGE_ANSWER_PATH } from "@gennai/protocol/page-paths";
import * as z from "zod/mini";

/** Characters of a reason; a request has to be small. */
const mostReason = 200;
const text = z.string();
/** As the server sends it; what it offers beside a yes for once is not for people elsewhere. */
const askedSchema = z.object({
  token: text,
  workspace: text,
  requestId: text,
  expires: z.number(),
  question: z.object({
    callId: text,
    title: text,
    intentReflection: text,
    actionStatement: text,
    impactStatement: text,
    modelClaim: text,
    computed: z.object({
      risk: z.enum(["low", "medium", "high"]),
      paths: z.array(text),
      rule: text,
      reason: text,
      policySha256: text,
    }),
    actionJson: text,
    actionSha256: text,
    diff: z.optional(text),
    parts: z.optional(z.array(z.object({ id: text, name: text, rule: text, reason: text, needs: z.array(text) }))),
  }),
});

/** A question that a link is for. */
export interface LinkedQuestion {
  /** For this question alone, until it is over. */
  readonly token: string;
  readonly workspace: string;
  readonly question: ConfirmationQuestion;
}

/** Why there is no question, or no answer, in words for people. */
export class LinkRefused extends Error {
  readonly code = "link_refused";
  override readonly name = "LinkRefused";
  /** Whether another try would end the same. */
  readonly isFinal: boolean;

  constructor(message: string, { isFinal = false, ...options }: ErrorOptions & { readonly isFinal?: boolean } = {}) {
    super(message, options);
    this.isFinal = isFinal;
  }
}

/** Rejects with `LinkRefused`. */
export async function openLink(
  asked: { readonly code: string; readonly pin: string } | { readonly token: string },
  request: typeof fetch = fetch,
): Promise<LinkedQuestion> {
  const { token, workspace, requestId, expires, question } = askedSchema.parse(await post(asked, request));
  const { diff, parts, ...rest } = question;
  const shown = {
    ...rest,
    ...(diff === undefined ? {} : { diff }),
    ...(parts === undefined ? {} : { parts }),
    rememberStatement: "",
    offeredScopes: ["once"] as const,
  };
  return { token, workspace, question: { ...shown, requestId, deadline: new Date(expires) } };
}

/** Rejects with `LinkRefused`, also where somebody else answered first. */
export async function answerLink(
  { token, question }: LinkedQuestion,
  reply: ConfirmationReply,
  request: typeof fetch = fetch,
): Promise<void> {
  const said = reply.answer === "yes" ? { answer: "yes" } : { answer: "no", reason: reply.reason.slice(0, mostReason) };
  await post({ token, ...said, actionSha256: question.actionSha256 }, request);
}

async function post(body: object, request: typeof fetch): Promise<unknown> {
  let status: number;
  try {
    const response = await request(PAGE_ANSWER_PATH, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(body),
      credentials: "omit",
      redirect: "error",
    });
    if (response.ok) return await response.json();
    status = response.status;
  } catch (cause) {
    throw new LinkRefused("The server does not answer. Try again in a moment.", { cause });
  }
  if (status === 429) throw new LinkRefused("Too many tries. Wait a second, then try again.");
  if (status === 409) {
    throw new LinkRefused("This question is over: time ran out, or somebody answered.", { isFinal: true });
  }
  if (status === 403) throw new LinkRefused("The PIN is wrong, or this link was used or is over.", { isFinal: true });
  throw new LinkRefused(`The server cannot do it now (${status}). Try again in a moment.`);
}
