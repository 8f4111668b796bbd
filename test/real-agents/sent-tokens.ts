import { modelWires, startModelServer } from "@gennai/testkit/model-server/model-server";
import { temporaryDirectory, temporaryRepository } from "@gennai/testkit/temporary-repository";
import { cachedSequence } from "../wire/wire-world.ts";
import type { ComparedAgent } from "./compared-agents.ts";
import { runAgent } from "./compared-commands.ts";

export interface SentTokens {
  readonly requests: number;
  /** About four bytes each. */
  readonly first: number;
  readonly all: number;
  /** Of all: what began as the request before, so that a provider has it in its cache. */
  readonly cached: number;
}

const calls = 100;
const bytesOfToken = 4;

/** What an agent sends for one prompt, in which its model reads a line of a file a hundred times. */
export async function sentTokens(agent: ComparedAgent, program: readonly string[]): Promise<SentTokens> {
  await using place = await temporaryDirectory();
  const lines = Array.from({ length: calls }, (_, at) => `line ${at}: some words that stand for a line of code\n`);
  await using repository = await temporaryRepository({ "data.txt": lines.join("") });
  const asked = lines.flatMap((_, at) => agent.calls(`sed -n ${at + 1}p data.txt`));
  await using model = await startModelServer(agent.wire, (_count, { body }) => agent.answer(body, asked));
  await runAgent(agent, program, { project: repository.root, home: place.path("home"), baseUrl: model.baseUrl });
  const format = agent.wire === modelWires.openai ? "openai" : "openai-compatible";
  const sent = model.requests.map((request) => cachedSequence(format, request));
  const tokens = (parts: readonly string[]): number =>
    Math.round(parts.reduce((sum, part) => sum + Buffer.byteLength(part), 0) / bytesOfToken);
  const shared = sent.map((parts, at) => {
    const before = sent[at - 1] ?? [];
    const other = parts.findIndex((part, index) => part !== before[index]);
    return tokens(parts.slice(0, other < 0 ? parts.length : other));
  });
  return {
    requests: sent.length,
    first: tokens(sent[0] ?? []),
    all: sent.reduce((sum, parts) => sum + tokens(parts), 0),
    cached: shared.reduce((sum, each) => sum + each, 0),
  };
}
