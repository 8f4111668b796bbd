import { createHmac } from "node:crypto";
import type { Way } from "@gennai/machine/config/people-file";
import type { Risk } from "@gennai/protocol/model/governance/risk";

/** What a person is told of a question: nothing of a diff, an argument or a path but what the masked statement says. */
export interface QuestionNotice {
  readonly id: string;
  readonly person: string;
  readonly workspace: string;
  /** Without secrets. */
  readonly statement: string;
  readonly risk: Risk;
  readonly rule: string;
  /** Milliseconds since the epoch. */
  readonly expires: number;
  /** Undefined: the server has no address that people reach. */
  readonly url: string | undefined;
}

/** What goes out by one way. */
export interface OutgoingMessage {
  readonly body: string;
  readonly type: string;
  readonly headers: Readonly<Record<string, string>>;
}

const priorities: Readonly<Record<Risk, number>> = { low: 3, medium: 4, high: 5 };

/** @param secret of a webhook, `whsec_BASE64` */
export function questionMessage(
  notice: QuestionNotice,
  way: Way,
  { secret = "", now }: { readonly secret?: string; readonly now: number },
): OutgoingMessage {
  const { url, workspace } = notice;
  const title = `Gennai asks in ${workspace}`;
  const text = wordsOf(notice);
  switch (way.via) {
    case "ntfy": {
      const topic = new URL(way.url).pathname.split("/").findLast((part) => part !== "") ?? "";
      // A view and never `http`: that would be a yes without a look.
      const link = url === undefined ? {} : { click: url, actions: [{ action: "view", label: "Review", url }] };
      const said = { topic, title, message: text, tags: ["question"], priority: priorities[notice.risk], ...link };
      return json(said);
    }
    case "slack": {
      const escaped = `${title}\n${text}`.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
      return json({ text: `${escaped}${url === undefined ? "" : `\n<${url}|Review>`}` });
    }
    case "webhook":
      return signedWebhook(
        { type: "gennai.question", version: 1, ...notice, expires: iso(notice.expires) },
        notice.id,
        {
          secret,
          now,
        },
      );
    case "email":
      return {
        type: "text/plain",
        headers: {},
        // A directory's name may hold what ends a header.
        body: `Subject: Gennai asks\nContent-Type: text/plain; charset=utf-8\n\n${title}\n${text}\n${url === undefined ? "" : `\n${url}\n`}`,
      };
  }
}

/** Tells a webhook that a question waits no more. @param answer `yes`, `no`, or `over` without one */
export function closedMessage(
  id: string,
  answer: string,
  options: { readonly secret: string; readonly now: number },
): OutgoingMessage {
  return signedWebhook({ type: "gennai.question.closed", version: 1, id, answer }, `${id}-closed`, options);
}

function wordsOf({ statement, risk, rule, expires, url }: QuestionNotice): string {
  const where = url === undefined ? " Answer where Gennai runs." : "";
  return `${statement}\nRisk ${risk}, rule ${rule}. Until ${iso(expires).slice(11, 16)} UTC; then it is a no.${where}`;
}

function iso(time: number): string {
  return new Date(time).toISOString();
}

function json(body: object): OutgoingMessage {
  return { body: JSON.stringify(body), type: "application/json", headers: {} };
}

/** As Standard Webhooks 1.0.0 says. */
function signedWebhook(
  said: object,
  id: string,
  { secret, now }: { readonly secret: string; readonly now: number },
): OutgoingMessage {
  const message = json(said);
  const time = String(Math.floor(now / 1000));
  const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
  const signature = createHmac("sha256", key).update(`${id}.${time}.${message.body}`).digest("base64");
  const headers = { "webhook-id": id, "webhook-timestamp": time, "webhook-signature": `v1,${signature}` };
  return { ...message, headers };
}
