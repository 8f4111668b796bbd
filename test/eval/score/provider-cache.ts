import { createHash } from "node:crypto";
import type { ReceivedModelRequest } from "@gennai/testkit/model-server/model-server";
import type { Format } from "../../wire/wire-world.ts";

/** A piece of a request in the order in which providers cache it. */
export interface SentBlock {
  readonly part: "tools" | "system" | "said";
  /** Without the mark. */
  readonly text: string;
  /** A cache entry is asked for up to here (Anthropic). */
  readonly isMarked: boolean;
}

/** Four characters a token: the same rule for all requests, so that shares are right even where the sum is not. */
export function tokensOf(text: string): number {
  return Math.ceil(text.length / 4);
}

/** Tools, system text, what was said; joined messages are taken apart. */
export function blocksOf(format: Format, { body }: ReceivedModelRequest): readonly SentBlock[] {
  const said = listOf(body[format === "openai" ? "input" : "messages"]);
  const isSystem = (message: unknown): boolean => ["system", "developer"].includes(String(objectOf(message)["role"]));
  const system = format === "anthropic" ? listOf(body["system"]) : said.filter(isSystem);
  const messages = said
    .filter((message) => !isSystem(message))
    .flatMap((message) => {
      const { content, ...rest } = objectOf(message);
      return Array.isArray(content) ? content.map((piece: unknown) => ({ ...rest, piece })) : [message];
    });
  return [
    ...listOf(body["tools"]).map((value) => blockOf("tools", value)),
    ...system.map((value) => blockOf("system", value)),
    ...messages.map((value) => blockOf("said", value)),
  ];
}

function blockOf(part: SentBlock["part"], value: unknown): SentBlock {
  let isMarked = false;
  const text = JSON.stringify(value, (key, inner: unknown) => {
    if (key === "cache_control") isMarked = true;
    return key === "cache_control" ? undefined : inner;
  });
  return { part, text, isMarked };
}

/** The same request with the marks that other agents set: the system text, and the last two messages. */
export function markedAsUsual(blocks: readonly SentBlock[]): readonly SentBlock[] {
  const system = blocks.findLastIndex(({ part }) => part === "system");
  return blocks.map((block, index) => ({ ...block, isMarked: index === system || index >= blocks.length - 2 }));
}

/**
 * Anthropic: what lies before a mark is kept; a later request finds it at a mark of its own, or up to twenty blocks before one, and
 * at least 1,024 tokens. Entries live long enough here. Gives the tokens that each request finds.
 */
export function anthropicCache(): (blocks: readonly SentBlock[]) => number {
  const kept = new Set<string>();
  return (blocks) => {
    const hash = createHash("sha256");
    const prefixes = blocks.map(({ text }) => hash.update(text).update("\0").copy().digest("hex"));
    let found = -1;
    for (const [index, { isMarked }] of blocks.entries()) {
      if (!isMarked) continue;
      for (let at = index; at > Math.max(found, index - 20); at -= 1) {
        if (kept.has(prefixes[at] ?? "")) found = Math.max(found, at);
      }
    }
    for (const [index, { isMarked }] of blocks.entries()) if (isMarked) kept.add(prefixes[index] ?? "");
    const tokens = blocks.slice(0, found + 1).reduce((total, { text }) => total + tokensOf(text), 0);
    return tokens < least ? 0 : tokens;
  };
}

const least = 1_024;
const step = 128;

/** OpenAI: the longest beginning that a request before had too, in steps of 128 tokens, from 1,024 on. */
export function openAiCache(): (blocks: readonly SentBlock[]) => number {
  const before: string[] = [];
  return (blocks) => {
    const text = blocks.map((block) => block.text).join("\0");
    // The newest are the likeliest; a session's requests go on from one of the last.
    const common = before.slice(-3).map((other) => commonLength(other, text));
    before.push(text);
    const tokens = Math.floor(Math.max(0, ...common) / 4);
    return tokens < least ? 0 : tokens - (tokens % step);
  };
}

function commonLength(one: string, other: string): number {
  const most = Math.min(one.length, other.length);
  let at = 0;
  while (at < most && one.charCodeAt(at) === other.charCodeAt(at)) at += 1;
  return at;
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function objectOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? { ...value } : {};
}
