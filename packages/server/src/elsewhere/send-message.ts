import { once } from "node:events";
import type { Way } from "@gennai/machine/config/people-file";
import { readPrivateFile } from "@gennai/machine/private-file";
import { startProcess } from "@gennai/machine/process/start-process";
import type { OutgoingMessage } from "./question-message.ts";

/** Milliseconds that a receiver has. */
const answerMs = 30_000;

/** Sends by one way. Rejects if it did not arrive. */
export async function sendMessage(way: Way, message: OutgoingMessage): Promise<void> {
  const signal = AbortSignal.timeout(answerMs);
  if (way.via === "email") return mailed(way.command, message.body, signal);
  const authorization: Readonly<Record<string, string>> =
    way.via === "ntfy" && way.token_file !== undefined
      ? { authorization: `Bearer ${await secretIn(way.token_file)}` }
      : {};
  const response = await fetch(await placeOf(way), {
    method: "POST",
    headers: { "content-type": message.type, ...message.headers, ...authorization },
    body: message.body,
    redirect: "error",
    signal,
  });
  await response.body?.cancel();
  if (!response.ok) throw new Error(`it answered ${response.status}`);
}

/** The secret that a webhook is signed by; empty for other ways. */
export async function signingSecret(way: Way): Promise<string> {
  return way.via === "webhook" ? secretIn(way.secret_file) : "";
}

/** ntfy takes JSON at its root, with the topic in it. */
async function placeOf(way: Exclude<Way, { readonly via: "email" }>): Promise<URL> {
  if (way.via === "slack") return new URL(await secretIn(way.url_file));
  const url = new URL(way.url);
  if (way.via === "ntfy") url.pathname = url.pathname.replace(/[^/]+\/?$/, "");
  return url;
}

async function secretIn(file: string): Promise<string> {
  return (await readPrivateFile(file)).trim();
}

async function mailed([program = "", ...args]: readonly string[], text: string, signal: AbortSignal): Promise<void> {
  const child = startProcess(program, args, { stdio: ["pipe", "ignore", "ignore"], signal });
  const ended: Promise<unknown[]> = once(child, "close");
  child.stdin.on("error", () => undefined);
  child.stdin.end(text);
  const [code] = await ended;
  if (code !== 0) throw new Error(`${program} ended with ${String(code)}`);
}
