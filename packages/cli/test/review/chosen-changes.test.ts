import type { TriedChange } from "@gennai/sessions/policy-workbench/offer-staged";
import { expect, test } from "vitest";
import { chosenChanges, decideOffer, keptUnasked } from "#review/offered-changes";
import { keptHunks } from "#review/review-offer";
import { LineInput } from "#terminal/line-input";
import { testConsole } from "../test-console.ts";

function change(id: string, verdict: TriedChange["verdict"], needs: readonly string[] = []): TriedChange {
  const rule = verdict === "allow" ? "" : "r";
  return { id, needs, name: id, what: ["update"], verdict, rule, reason: "", ignored: false };
}

const changes = [change("a", "allow"), change("b", "ask"), change("c", "deny"), change("git", "allow", ["b"])];

test.each<[string, readonly string[] | undefined]>([
  ["all", ["c"]],
  [" ALL ", ["c"]],
  ["rest", ["b", "c", "git"]],
  ["none", undefined],
  ["n", undefined],
  // What git has needs the file that is not kept.
  ["1 4", ["b", "c", "git"]],
  ["2-4", ["a"]],
  ["1,2,3,4", []],
])("%j drops %j", (answer, dropped) => {
  const chosen = chosenChanges(answer, changes);
  expect(chosen.type).toBe("chosen");
  const found = chosen.type === "chosen" ? chosen.dropped : undefined;
  expect(found === undefined ? undefined : [...found].toSorted()).toEqual(dropped);
});

test.each(["", "yes", "0", "5", "3-1", "1-9", "a b", "1;2"])("%j is asked again", (answer) => {
  expect(chosenChanges(answer, changes)).toMatchObject({ type: "unclear", message: expect.stringContaining("1 to 4") });
});

test("where all of it would be dropped, nothing is kept", () => {
  expect(chosenChanges("rest", [change("b", "ask")])).toEqual({ type: "chosen", dropped: undefined });
});

test.each<[readonly string[], readonly string[] | undefined]>([
  [[], ["dist/ (2 files)", "deny", "lib/b", "lib/c"]],
  [["dist"], ["deny", "lib/b", "lib/c"]],
  [["./dist/"], ["deny", "lib/b", "lib/c"]],
  [["lib/b"], ["deny", "dist/ (2 files)", "lib/c"]],
  [["lib", "dist"], ["deny"]],
  [["deny"], ["deny", "dist/ (2 files)", "lib/b", "lib/c"]],
])("--keep with %j drops %j", (included, dropped) => {
  const ignored = { ...change("dist/ (2 files)", "allow"), ignored: true };
  const all = [change("a", "allow"), ignored, change("deny", "deny"), change("lib/b", "ask"), change("lib/c", "ask")];
  const chosen = keptUnasked(all, included);
  const found = chosen.type === "chosen" ? chosen.dropped : undefined;
  expect([...(found ?? [])].toSorted()).toEqual(dropped?.toSorted());
});

test("a path that nothing has is not a choice", () => {
  expect(keptUnasked([change("a", "allow")], ["b"])).toMatchObject({ type: "unclear" });
});

test.each<[string, readonly string[] | undefined, readonly string[]]>([
  // By change and hunk: k keeps, e edits, u refuses.
  ["a1k a2k b1k c1u git1k", ["c"], []],
  ["a1k a2u b1k c1u git1k", ["c"], ["a"]],
  ["a1e a2k b1u c1u git1u", ["b", "c", "git"], ["a"]],
  // What git has of it is all of it.
  ["a1k a2k b1k b2u c1k git1k", ["git"], ["b"]],
  ["a1u a2u b1u c1u git1k", undefined, []],
])("by the hunk: %j", (said, dropped, inPart) => {
  const decided = said.split(" ").map((one) => {
    const [, changeId = "", hunkId = "", letter] = /^([a-z]+)(\d)(.)$/.exec(one) ?? [];
    const decision = { k: { type: "keep" }, e: { type: "edited", text: "x" }, u: { type: "undo" } } as const;
    return { changeId, hunkId, decision: decision[letter === "k" ? "k" : letter === "e" ? "e" : "u"] };
  });
  const kept = keptHunks(changes, decided);
  expect(kept && [...kept.dropped].toSorted()).toEqual(dropped);
  expect([...(kept?.inPart?.keys() ?? [])]).toEqual(inPart);
});

test("after a review that failed, what is kept is asked again", async () => {
  const { signal } = new AbortController();
  const console = testConsole("/");
  const answers = ["hunks", "2"];
  const input = Object.assign(Object.create(LineInput.prototype) as LineInput, {
    question: () => Promise.resolve(answers.shift()),
  });
  const decision = await decideOffer(
    { verdict: "ask", changes, neverKept: [], diff: "" },
    () => {
      throw new RangeError("too long");
    },
    { keep: false, ask: true, include: [] },
    { console, signal, interrupts: { interrupt: () => undefined }, lines: () => input },
  );
  expect([...(decision.chosen?.dropped ?? [])].toSorted()).toEqual(["a", "c", "git"]);
  expect(console.complained()).toMatch(/The review ended with an error: .*too long/);
});
