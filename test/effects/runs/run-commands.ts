import { readFileSync } from "node:fs";
import { Verdict } from "@gennai/protocol/gen/gennai/agent/v1/governance_pb";
import type { TestServer } from "@gennai/testkit/test-server";
import { startTestServer } from "@gennai/testkit/test-server";
import { eventsOf, runTurn, startSession } from "../../e2e/rpc/session-client.ts";

export interface CorpusCommand {
  readonly id: string;
  readonly class: string;
  readonly command: string;
  /** The public report of an agent whose rules over texts let its like through. */
  readonly report?: string;
  /** What it cannot do its work without. */
  readonly needs?: "network" | "service";
  /** It prints what a sandbox is like: a bare run has one of its own, so that nothing follows from what both print. */
  readonly tells?: "sandbox";
  /** Calls of a model that come to it; without them, it is the one command. */
  readonly steps?: readonly { readonly name: string; readonly args: Readonly<Record<string, unknown>> }[];
}

/** How servers run commands: on a stage, or as the user. */
export const places = {
  staged: { commands: "staged" },
  "staged if possible": { commands: "auto" },
  plain: { commands: "ask" },
} as const;

export type Place = keyof typeof places;

/** The result of one command, run through the product with nobody to ask. */
export interface CommandResult extends CorpusCommand {
  readonly outcome: "ran" | "asked" | "refused";
  /** Rules that asked or refused. */
  readonly rules: readonly string[];
  /** All events of its turn, as JSON. */
  readonly seen: string;
}

export function loadCommands(name: "hostile" | "everyday"): readonly CorpusCommand[] {
  const files = name === "hostile" ? ["hostile-commands", "reported-commands", "escapes"] : ["everyday-commands"];
  return files.flatMap((file) => {
    return JSON.parse(readFileSync(new URL(`../cases/${file}.json`, import.meta.url), "utf8")) as CorpusCommand[];
  });
}

/**
 * Runs each command in one session of a server, as a model would call it. The working tree is as at the
 * beginning before each of them.
 */
export async function runCommands(
  commands: readonly CorpusCommand[],
  options: {
    readonly files: Readonly<Record<string, string>>;
    /** Before the session begins. */
    readonly begin?: (server: TestServer) => void;
    /** Makes the working tree what it is before each command, besides its files. */
    readonly prepare?: (server: TestServer) => void | Promise<void>;
    readonly onResult: (result: CommandResult, server: TestServer) => void | Promise<void>;
    readonly timeoutMs: number;
    /** Where they run; staged when left out. */
    readonly place?: Place;
  },
): Promise<void> {
  await using server = await startTestServer({
    files: options.files,
    script: commands.map(({ command, steps }) => {
      const calls = steps ?? [{ name: "Bash", args: { command, timeout_ms: options.timeoutMs } }];
      return { steps: [...calls.map((tool) => ({ tool })), { text: ["Done."] }] };
    }),
    server: places[options.place ?? "staged"],
  });
  await server.workspace.git("config", "user.name", "Test");
  await server.workspace.git("config", "user.email", "test@example.com");
  options.begin?.(server);
  const sessionId = await startSession(server);
  for (const each of commands) {
    await server.workspace.git("checkout", "--quiet", "--force", "-B", "work", "main");
    await server.workspace.git("clean", "--force", "-d", "--quiet");
    await options.prepare?.(server);
    const events = await runTurn(server, sessionId, "go");
    // The project's own check after a change is another question.
    const decisions = eventsOf(events, "gateDecision").filter(({ rule }) => !rule.startsWith("project-check/"));
    const fired = decisions.filter(({ verdict }) => verdict !== Verdict.ALLOW);
    const isRefused = fired.some(({ verdict }) => verdict === Verdict.DENY);
    await options.onResult(
      {
        ...each,
        outcome: isRefused ? "refused" : fired.length > 0 ? "asked" : "ran",
        rules: fired.map(({ rule }) => rule),
        seen: JSON.stringify(events, (_key, value: unknown) => (typeof value === "bigint" ? String(value) : value)),
      },
      server,
    );
  }
}
