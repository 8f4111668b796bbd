import { createHash } from "node:crypto";
import { lstatSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { ProposedChanges } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import { HunkDecision } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import { startTestServer, type TestServer } from "@gennai/testkit/test-server";
import { expect } from "vitest";
import { endState, eventOf, eventsOf, runTurn } from "../../rpc/session-client.ts";

export type Call = readonly [tool: string, args: Readonly<Record<string, unknown>>];

export const twentyLines = Array.from({ length: 20 }, (_, index) => `line ${index + 1}\n`).join("");

/** Behind calls of one answer, and before those of the next. */
export const afterThat = "afterwards";

/** Each inner list is a turn: its calls one after the other, and then the end. */
export function proposing(
  turns: readonly (readonly (Call | typeof afterThat)[])[],
  files: Readonly<Record<string, string>> = {},
): Promise<TestServer> {
  return startTestServer({
    files: { ".gitignore": "node_modules\ndist\n", "a.txt": twentyLines, "src/b.txt": "b\n", ...files },
    // A review counts as a message, so turns are told apart by what is asked.
    script: turns.map((calls, index) => ({
      match: `do ${index + 1}`,
      steps: [
        ...calls.map((call) =>
          call === afterThat ? { text: [afterThat] } : { tool: { name: call[0], args: call[1] } },
        ),
        { text: ["Done."] },
      ],
    })),
    server: { commands: "staged" },
  });
}

export function bash(command: string): Call {
  return ["Bash", { command }];
}

/** The ledger's copy, and that git ignores it. */
const ofLedger = /\/\.orchestration$|\/\.git\/info\/exclude$/;

/** Every byte, mode and name of a workspace, git's data too. */
export function wholeTree(server: TestServer): Readonly<Record<string, string>> {
  const found: Record<string, string> = {};
  const add = (path: string): void => {
    for (const name of readdirSync(path).toSorted()) {
      const at = join(path, name);
      if (ofLedger.test(at)) continue;
      const stat = lstatSync(at);
      const content = stat.isFile()
        ? `${stat.mtimeMs} ${createHash("sha256").update(readFileSync(at)).digest("hex")}`
        : "";
      found[at] = `${stat.mode} ${content}`;
      if (stat.isDirectory()) add(at);
    }
  };
  add(server.workspace.root);
  return found;
}

/** Of each server, so far. */
const turns = new WeakMap<TestServer, number>();

export async function turn(server: TestServer, sessionId: string) {
  const number = (turns.get(server) ?? 0) + 1;
  turns.set(server, number);
  const events = await runTurn(server, sessionId, `do ${number}`);
  expect(eventsOf(events, "confirmationRequest")).toEqual([]);
  expect(endState(events)).toBe("COMPLETED");
  return {
    results: eventsOf(events, "toolResult").map(({ error, output }) => `${error}${output}`),
    proposals: eventsOf(events, "proposedChanges"),
    warnings: eventsOf(events, "warning"),
    proposal: () => eventOf(events, "proposedChanges"),
  };
}

/** What a person decides, by the path of the file and the number of the hunk; everything else is refused. */
export function keeping(proposal: ProposedChanges, isKept: (path: string, hunk: number) => boolean) {
  return proposal.changes.flatMap(({ id: changeId, path, hunks, operation }) => {
    const ids = hunks.length === 0 || operation === 3 ? [""] : hunks.map(({ id }) => id);
    return ids.map((hunkId, index) => ({
      changeId,
      hunkId,
      decision: isKept(path, index) ? HunkDecision.KEEP : HunkDecision.UNDO,
    }));
  });
}
