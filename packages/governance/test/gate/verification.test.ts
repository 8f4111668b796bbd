import { describe, expect, it } from "vitest";
import * as z from "zod";
import { governTools } from "#gate/gate";
import type { CallOutcome } from "#gate-journal";
import type { Tool, ToolOutcome, Verification } from "#tool";
import { gateWith, silentJournal } from "./gate-with.ts";

/** What is recorded of a call whose tool ran with this outcome, and looked at the world again like this. */
async function recorded(outcome: ToolOutcome, verify?: () => Promise<Verification>): Promise<CallOutcome> {
  const ended: CallOutcome[] = [];
  const tool: Tool = {
    name: "Change",
    description: "",
    parameters: z.strictObject({}),
    access: "change",
    analyse: async () => ({ statement: "Change it", effects: [{ type: "session" }] }),
    execute: async () => outcome,
    ...(verify === undefined ? {} : { verify }),
  };
  const gate = governTools(
    gateWith({
      tools: new Map([["Change", tool]]),
      journal: { ...silentJournal, end: async (outcomes) => void ended.push(...outcomes.map(({ result }) => result)) },
      policyTimeoutMs: 50,
    }),
  );
  await gate.run([{ id: "c", name: "Change", argumentsJson: "{}" }], {
    turnId: "t",
    signal: new AbortController().signal,
  });
  const [result] = ended;
  if (result === undefined) throw new Error("Nothing was recorded.");
  return result;
}

const claims = { output: "Done. All tests pass. Verified." };

describe("seed 003 §2.4: success is claimed by evidence, never by a tool's own words", () => {
  it.each<[string, (() => Promise<Verification>) | undefined, Verification["state"]]>([
    ["nothing was looked at", undefined, "unverified"],
    ["the look found it", async () => ({ state: "verified", evidence: "The file has the hash." }), "verified"],
    ["the look found something else", async () => ({ state: "failed", evidence: "Another hash." }), "failed"],
    ["the look failed", () => Promise.reject(new Error("no access")), "failed"],
  ])("%s: %s", async (_name, verify, state) => {
    expect((await recorded(claims, verify)).verification.state).toBe(state);
  });

  it("evidence is a sentence, also when there is none", async () => {
    expect((await recorded(claims)).verification.evidence).toBe("The tool has no verification plan.");
  });
});
