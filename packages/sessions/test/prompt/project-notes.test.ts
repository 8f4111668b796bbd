import { symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createRedactor } from "@gennai/machine/redaction/redactor";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { readProjectNotes } from "#prompt/project-notes";
import { appendLesson } from "#tools/writing/record-lesson-tool";
import { IntentsBench } from "../intents/intents-bench.ts";

let bench: IntentsBench;
beforeEach(() => {
  bench = new IntentsBench();
});
afterEach(() => {
  bench[Symbol.dispose]();
});

describe("seed 001 lessons: AGENT.md / CLAUDE.md, shared brain for lessons, rules, and style guidance", () => {
  it("reads what is there, each text once", async () => {
    bench.write("AGENT.md", "Use tabs.\r\n");
    bench.write("AGENTS.md", "Use tabs.\n");
    symlinkSync("AGENT.md", join(bench.root, "CLAUDE.md"));
    const redactor = await createRedactor({ secrets: [] });
    expect(await readProjectNotes(bench.root, redactor)).toEqual({
      texts: ["## AGENTS.md, AGENT.md, CLAUDE.md\n\nUse tabs."],
      warnings: [],
    });
  });

  it("takes AGENTS.override.md in place of the AGENTS.md beside it, and of no other", async () => {
    bench.write("AGENTS.md", "Shared.\n");
    bench.write("AGENTS.override.md", "Mine.\n");
    bench.write("src/AGENTS.md", "Of src.\n");
    const redactor = await createRedactor({ secrets: [] });
    const { texts } = await readProjectNotes(bench.root, redactor, { workedOn: ["src/a.ts"] });
    expect(texts).toEqual(["## AGENTS.override.md\n\nMine.", "## src/AGENTS.md (for files below src)\n\nOf src."]);
  });

  it("leaves out, with a warning, what cannot be trusted, and hides what must not be seen", async () => {
    const secret = "a-secret-of-this-machine";
    writeFileSync(join(bench.stateDir, "outside.md"), "evil");
    symlinkSync(join(bench.stateDir, "outside.md"), join(bench.root, "AGENT.md"));
    bench.write("CLAUDE.md", "x".repeat(70_000));
    bench.write("AGENTS.md", `Token ${secret}.\u{E0041}\u{E0100}\u202e\u200e\u3164\u2028\u0007`);
    const notes = await readProjectNotes(bench.root, await createRedactor({ secrets: [secret] }));
    expect(notes.texts.join("\n\n")).toMatch(/^## AGENTS\.md\n\nToken \[REDACTED:[^\]]*\]\.$/);
    expect(notes.warnings).toEqual([
      expect.stringContaining("AGENT.md: leads out"),
      expect.stringContaining("CLAUDE.md: is larger"),
    ]);
  });

  it("reads those in .orchestration as the root's own, each text once", async () => {
    bench.write("CLAUDE.md", "Use tabs.\n");
    bench.write(".orchestration/AGENT.md", "The clock is a port.\n");
    bench.write(".orchestration/CLAUDE.md", "Ask first.\n");
    const redactor = await createRedactor({ secrets: [] });
    expect(await readProjectNotes(bench.root, redactor, { workedOn: [".orchestration/active_intents.yaml"] })).toEqual({
      texts: [
        "## CLAUDE.md\n\nUse tabs.",
        "## .orchestration/AGENT.md\n\nThe clock is a port.",
        "## .orchestration/CLAUDE.md\n\nAsk first.",
      ],
      warnings: [],
    });
  });

  it("are empty without files", async () => {
    expect(await readProjectNotes(bench.root, await createRedactor({ secrets: [] }))).toEqual({
      texts: [],
      warnings: [],
    });
  });

  it.each<[string, string, string | undefined]>([
    ["an empty file", "", "## Lessons\n\n- New one\n"],
    ["no section", "# Notes\n\nText", "# Notes\n\nText\n\n## Lessons\n\n- New one\n"],
    ["a section at the end", "## Lessons\n\n- old\n", "## Lessons\n\n- old\n- New one\n"],
    ["an empty section", "## Lessons\n", "## Lessons\n\n- New one\n"],
    [
      "a section in between",
      "# lessons\n- old\n\n## sub\n- x\n\n# Next\n",
      "# lessons\n- old\n\n## sub\n- x\n- New one\n\n# Next\n",
    ],
    ["a heading in a fence", "```\n## Lessons\n```\n", "```\n## Lessons\n```\n\n## Lessons\n\n- New one\n"],
    ["the same lesson", "## Lessons\n\n- New one\n", undefined],
  ])("a lesson goes under its heading: %s", (_name, text, wanted) => {
    expect(appendLesson(text, "New\n  one")).toBe(wanted);
  });
});
