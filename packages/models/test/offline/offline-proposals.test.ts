import { describe, expect, it } from "vitest";
import { OfflineModel } from "#offline/offline-model";
import { converse, editorTools, ToolWorld } from "./tool-world.ts";

const model = new OfflineModel();

describe("OfflineModel where changes are proposed", () => {
  const propose = async (files: Record<string, string>, say: string, refuse?: ToolWorld["refuse"]) => {
    const world = new ToolWorld(files, refuse);
    const text = await converse(model, world, say, editorTools);
    expect(Object.fromEntries(world.files)).toEqual(files);
    return { world, text };
  };

  it("proposes all steps in one call, later ones on top of earlier ones", async () => {
    const files = { "src/a.ts": "foo\n", "src/b.ts": "no newline foo", "gone.txt": "y\n" };
    const say =
      "create src/c.ts with foo then replace foo with $1 in src/*.ts then append end to src/b.ts then delete gone.txt";
    const { world, text } = await propose(files, say);
    expect(world.proposals).toEqual([
      [
        { path: "src/c.ts", operation: "create", new_content: "$1\n" },
        { path: "src/a.ts", operation: "update", new_content: "$1\n" },
        { path: "src/b.ts", operation: "update", new_content: "no newline $1\nend\n" },
        { path: "gone.txt", operation: "delete" },
      ],
    ]);
    expect(text).toContain("Proposed 4 changes; nothing is written until you apply them");
  });

  it("proposes nothing when nothing changes", async () => {
    const { world, text } = await propose({ "a.txt": "x\n" }, "replace foo with bar in *.txt");
    expect(world.proposals).toEqual([]);
    expect(text).toContain("nothing was changed");
  });

  it("never writes back what was masked", async () => {
    const { world, text } = await propose({ "a.txt": "key=[REDACTED:token] foo\n" }, "replace foo with bar in a.txt");
    expect(world.proposals).toEqual([]);
    expect(text).toContain("masked");
  });

  it("says so when the proposal is refused", async () => {
    const refuse: ToolWorld["refuse"] = (name) =>
      name === "ProposeChanges" ? { code: "zero_access", message: "Not this file." } : undefined;
    const { text } = await propose({ "a.txt": "foo\n" }, "replace foo with bar in a.txt", refuse);
    expect(text).toBe(
      "The proposal was refused, so nothing is proposed: Not this file. (zero_access) Work without its content; tell the agent the one fact it needs.",
    );
  });

  it("proposes what was drafted before a step that is not possible", async () => {
    const { world, text } = await propose(
      { "a.txt": "foo\n" },
      "replace foo with bar in a.txt then run make then say ok",
    );
    expect(world.proposals).toHaveLength(1);
    expect(text).toMatch(/does not offer Bash[\s\S]*Not attempted[\s\S]*say ok[\s\S]*Proposed 1 change;/);
  });
});
