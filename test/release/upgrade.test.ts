import { readFileSync } from "node:fs";
import { join } from "node:path";
import { version } from "@gennai/cli/terminal/version";
import { HunkDecision } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import { startTestServer } from "@gennai/testkit/test-server";
import { describe, expect, it } from "vitest";
import { allEvents, eventOf } from "../e2e/rpc/session-client.ts";
import { type KeptState, keptVersions, withKeptState } from "./kept-state.ts";

describe.each(keptVersions)("this version opens what %s left", (kept) => {
  it("a state with sessions, ledger, proposal, plan and checkpoints, and goes on from there", () =>
    withKeptState(kept, async (state) => {
      const sessions = await sessionsOf(state);
      expect(sessions.map(({ title }) => title)).toEqual([
        "replace old with new in src/**/*.txt then verify grep new src/plan.txt",
        "replace apple with plum in src/**/*.txt",
        "replace colour with color in src/**/*.txt",
      ]);
      const [, proposing, changing] = sessions.map(({ sessionId }) => sessionId);
      const records = await verified(state);
      expect(records).toBeGreaterThan(5);

      await applyProposal(state, proposing ?? "");
      expect(text(state, "src/fruit.txt")).toBe("plum\npear\nplum\n");

      const plan = /([0-9a-f-]{36}) +awaiting_approval/.exec((await done(state, "plan", "status")).output)?.[1] ?? "";
      // The approval is for the present content, so it is previewed again.
      const preview = await done(state, "plan", "preview", plan, "--json");
      const { digest } = digestOf(preview.output);
      await done(state, "plan", "approve", plan, "--digest", digest);
      await done(state, "plan", "execute", plan);
      expect(text(state, "src/plan.txt")).toBe("new\nnew\n");
      await done(state, "plan", "verify", plan);

      await done(state, "undo", "--session", changing ?? "");
      expect(text(state, "src/paint.txt")).toBe("colour one\ncolour two\n");
      const more = ["--yes", "--commands", "ask"];
      await done(state, "run", "--resume", changing ?? "", "replace pear with fig in src/**/*.txt", ...more);
      expect(text(state, "src/fruit.txt")).toBe("plum\nfig\nplum\n");
      expect(await verified(state)).toBeGreaterThan(records);
    }));

  it("an exported session and a bundle of its ledger", () =>
    withKeptState(kept, async (state) => {
      await done(state, "ledger", "verify", "--bundle", state.path("ledger.json"));
      await done(state, "sessions", "import", state.path("session.jsonl"));
      expect((await sessionsOf(state))[0]?.title).toMatch(/^Imported: replace old with new/);
    }));
});

it("of each released version there is a state, so of this one", () => {
  expect(keptVersions).toContain(version);
});

interface ListedSession {
  readonly sessionId: string;
  readonly title: string;
}

/** Newest first. */
async function sessionsOf(state: KeptState): Promise<readonly ListedSession[]> {
  const { output } = await done(state, "sessions", "--json");
  return output
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as ListedSession);
}

/** Runs a command that must succeed. */
async function done(state: KeptState, ...args: readonly string[]): Promise<{ readonly output: string }> {
  const { code, output } = await state.gennai(...args);
  expect(code, `gennai ${args.join(" ")}\n${output}`).toBe(0);
  return { output };
}

/** Verifies the ledger and gives the number of its records. */
async function verified(state: KeptState): Promise<number> {
  const { output } = await done(state, "ledger", "verify");
  return Number(/ok {2}(\d+) records?, chained and signed/.exec(output)?.[1]);
}

function text(state: KeptState, path: string): string {
  return readFileSync(join(state.workspace, path), "utf8");
}

function digestOf(json: string): { readonly digest: string } {
  const [, digest = ""] = /"(?:digest|planSha256|sha256)": ?"([0-9a-f]{64})"/.exec(json) ?? [];
  expect(digest, json.slice(0, 500)).not.toBe("");
  return { digest };
}

/** Keeps everything of the proposal that is open in a session. */
async function applyProposal({ stateDir, workspace }: KeptState, sessionId: string): Promise<void> {
  await using server = await startTestServer({ server: { stateDir, workspace } });
  const proposal = eventOf(await allEvents(server, sessionId), "proposedChanges");
  const hunks = proposal.changes.map(({ id: changeId }) => ({ changeId, decision: HunkDecision.KEEP }));
  const { files } = await server.client.applyProposal({ sessionId, proposalId: proposal.proposalId, hunks });
  expect(files.map(({ path }) => path)).toEqual(["src/fruit.txt"]);
}
