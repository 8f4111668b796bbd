import { endState, runTurn, startSession } from "../../e2e/rpc/session-client.ts";
import { call, type Format, wireWorld } from "../../wire/wire-world.ts";
import {
  anthropicCache,
  blocksOf,
  markedAsUsual,
  openAiCache,
  type SentBlock,
  tokensOf,
} from "../score/provider-cache.ts";

const callsOfTurn = 30;
const files = 60;

/** What a long session sent to a provider, in tokens (four characters each), and what its cache could have served. */
export interface SentSession {
  readonly format: Format;
  readonly requests: number;
  readonly compactions: number;
  /** Of the first request: what goes along with each. */
  readonly tools: number;
  readonly system: number;
  readonly sent: number;
  /** By the provider's own rules. */
  readonly cached: number;
  /** By Anthropic's rules, with the marks that other agents set; undefined elsewhere. */
  readonly cachedAsUsual: number | undefined;
  /** If each request found all of the one before, whatever was done to the conversation between. */
  readonly atMost: number;
}

/** Turns of thirty calls each, as a model works: search, read, edit, run, note; in a session of a real server. */
export async function sentSession(format: Format, calls: number): Promise<SentSession> {
  let made = 0;
  let isTurnOver = false;
  let compactions = 0;
  await using world = await wireWorld(
    format,
    (_count, { body }) => {
      if (body["tools"] === undefined) compactions += 1;
      if (body["tools"] === undefined) return { text: ["So far: files were read and edited, tests ran."] };
      isTurnOver = !isTurnOver && made > 0 && made % callsOfTurn === 0;
      if (isTurnOver || made >= calls) return { text: ["Done with this part."] };
      made += 1;
      return { text: ["I go on."], calls: [usualCall(made)] };
    },
    { files: Object.fromEntries(Array.from({ length: files }, (_, index) => [fileOf(index), contentOf(index)])) },
  );
  const sessionId = await startSession(world.server, { settings: { maxIterations: calls + 10 } });
  for (let turn = 1; made < calls; turn += 1) {
    const end = endState(await runTurn(world.server, sessionId, `Part ${turn}: mend what is wrong in the next files.`));
    if (end !== "COMPLETED") throw new Error(`Turn ${turn} ended as ${end}.`);
  }
  const requests = world.provider.requests.map((request) => blocksOf(format, request));
  const serve = format === "anthropic" ? anthropicCache() : openAiCache();
  const usual = anthropicCache();
  const first = requests[0] ?? [];
  return {
    format,
    requests: requests.length,
    compactions,
    tools: sum(first.filter(({ part }) => part === "tools")),
    system: sum(first.filter(({ part }) => part === "system")),
    sent: requests.reduce((total, blocks) => total + sum(blocks), 0),
    cached: requests.reduce((total, blocks) => total + serve(blocks), 0),
    cachedAsUsual:
      format === "anthropic" ? requests.reduce((total, blocks) => total + usual(markedAsUsual(blocks)), 0) : undefined,
    atMost: requests
      .slice(1)
      .reduce((total, blocks, index) => total + Math.min(sum(blocks), sum(requests[index] ?? [])), 0),
  };
}

/** The sessions as a table, for people. */
export async function longSession(calls: number): Promise<string> {
  const rows: string[] = [];
  for (const format of ["anthropic", "openai", "openai-compatible"] as const) {
    const { requests, compactions, tools, system, sent, cached, cachedAsUsual, atMost } = await sentSession(
      format,
      calls,
    );
    const share = (part: number): string => `${((100 * part) / sent).toFixed(1)} %`;
    rows.push(
      `${format}: ${requests} requests, ${compactions} compactions; each begins with ${tools} tokens of tools and ${system} of system text`,
      `  sent ${sent} tokens; from the provider's cache ${cached} (${share(cached)}); at most ${atMost} (${share(atMost)})`,
      ...(cachedAsUsual === undefined
        ? []
        : [`  with the marks that other agents set: ${cachedAsUsual} (${share(cachedAsUsual)})`]),
    );
  }
  return `${rows.join("\n")}\n`;
}

function usualCall(number: number) {
  const id = `c${number}`;
  const file = fileOf(Math.floor(number / 5) % files);
  switch (number % 5) {
    case 0:
      return call(id, "Read", { file_path: file });
    case 1:
      return call(id, "Edit", { file_path: file, old_string: `line 7 of `, new_string: `line seven (${number}) of ` });
    case 2:
      return call(id, "Bash", { command: `grep -c line ${file}; echo run ${number}` });
    case 3:
      return call(id, "Grep", { pattern: `line ${number} of`, output_mode: "content" });
    default:
      return call(id, "TodoWrite", { todos: [{ content: `Mend ${file}`, status: "in_progress" }] });
  }
}

function fileOf(index: number): string {
  return `src/part-${index}.ts`;
}

/** About 8,000 characters. */
function contentOf(index: number): string {
  return Array.from(
    { length: 120 },
    (_, line) => `export const value${line} = "line ${line} of part ${index}, like many others";\n`,
  ).join("");
}

function sum(blocks: readonly SentBlock[]): number {
  return blocks.reduce((total, { text }) => total + tokensOf(text), 0);
}
