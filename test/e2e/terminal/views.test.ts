import { existsSync } from "node:fs";
import { call } from "@gennai/testkit/scripted-steps";
import { expect, test } from "vitest";
import { keys } from "./drawn-terminal.ts";
import { terminalScene } from "./terminal-scene.ts";

test("a review by the hunk: what is kept alone is written, and the scrollback is whole afterwards", async () => {
  const steps = [
    call("Write", { file_path: "kept.md", content: "kept\n" }),
    call("Write", { file_path: "left.md", content: "left\n" }),
    { text: "proposed it" },
  ];
  await using scene = await terminalScene([steps]);
  const terminal = scene.gennai(["--mode", "proposal"]);
  await terminal.see("model.json");
  terminal.type(`change${keys.enter}`);
  await terminal.see("Nothing is written yet: /review");
  terminal.type(`/review${keys.enter}`);
  await terminal.see("0 kept, 0 refused, 2 open");
  // Enter alone applies nothing: it asks once more, and any other key goes back.
  terminal.type(keys.enter);
  await terminal.see("Apply 0 hunks?");
  terminal.type("k");
  await terminal.see("n refuse");
  terminal.type("y");
  await terminal.see("1 kept, 0 refused, 1 open");
  terminal.type("n");
  await terminal.see("1 kept, 1 refused, 0 open");
  terminal.type(keys.enter);
  await terminal.see("Apply 1 hunk?");
  expect(existsSync(scene.repository.path("kept.md"))).toBe(false);
  terminal.type(keys.enter);
  await terminal.see("✓ Applied to kept.md");
  expect(await scene.repository.read("kept.md")).toBe("kept\n");
  expect(existsSync(scene.repository.path("left.md"))).toBe(false);
  expect(terminal.all()).toMatch(/› change\n[\s\S]*proposed it\n[\s\S]*✓ Applied to kept\.md/);
  expect(terminal.all()).not.toContain("refuse");
});

test("a plan is approved with all that it would do in view, and then run and verified", async () => {
  await using scene = await terminalScene([]);
  const terminal = scene.gennai(["run"]);
  await terminal.see("offline");
  terminal.type(`/plan replace colour with color in a.md${keys.enter}`);
  await terminal.see("a approve and run exactly this");
  await terminal.see("+color");
  terminal.type(keys.enter);
  terminal.type("a");
  await terminal.see("executed yes · verified yes");
  expect(await scene.repository.read("a.md")).toBe("color\n");
  terminal.type(keys.shiftTab);
  await terminal.see(/ · proposal · /);
});

test("a list is narrowed by what is typed, and one of it is gone on with", async () => {
  await using scene = await terminalScene([[{ text: "first answer" }]]);
  const one = scene.gennai();
  await one.see("model.json");
  one.type(`the first${keys.enter}`);
  await one.see("first answer");
  one.type(keys.control("d"));
  await one.ended;
  const other = scene.gennai();
  await other.see("model.json");
  other.type(`/resume${keys.enter}`);
  await other.see("Go on with:");
  other.type("zzz");
  await other.see("Nothing fits.");
  other.type(`${keys.backspace.repeat(3)}first`);
  await other.see("→ the first");
  other.type(keys.enter);
  await other.see("first answer");
});
