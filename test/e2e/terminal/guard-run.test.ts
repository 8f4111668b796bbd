import { chmodSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { keys } from "./drawn-terminal.ts";
import { terminalScene } from "./terminal-scene.ts";

const agents = `agents:
  mine:
    program: my-agent
    hosts: ["127.0.0.1:1"]
`;

const program = `#!/bin/sh
sed -i 's/^one$/ONE/; s/^twenty$/TWENTY/' a.md
echo first > b.md; echo second >> b.md
rm c.md
mkdir dist && echo x > dist/out.js && echo dist > .gitignore
echo obey > AGENTS.md
`;

const lines = ["one", ...Array.from({ length: 18 }, (_, index) => `${index}`), "twenty"];

test("what a guarded run changed is reviewed by the hunk, and undone as a whole", async () => {
  await using scene = await terminalScene([], { "a.md": `${lines.join("\n")}\n`, "c.md": "gone\n" });
  const { repository, state } = scene;
  mkdirSync(state.path("bin"));
  writeFileSync(state.path("bin/my-agent"), program);
  chmodSync(state.path("bin/my-agent"), 0o755);
  mkdirSync(state.path(".config/gennai"), { recursive: true });
  writeFileSync(state.path(".config/gennai/guard-agents.yaml"), agents);
  const env = {
    PATH: `${state.path("bin")}:${process.env["PATH"]}`,
    XDG_CONFIG_HOME: "",
    EDITOR: "sed -i s/first/1st/",
  };
  const terminal = scene.gennai(["guard", "run", "--", "mine"], { env });
  await terminal.see("Let it?");
  terminal.type(`yes${keys.enter}`);
  await terminal.see("Keep it? [all, rest, none, hunks, or numbers]");

  // Leaving the review decides nothing.
  terminal.type(`hunks${keys.enter}`);
  await terminal.see(/Review {2}\d files, \d hunks: 0 kept/);
  terminal.type("q");
  await terminal.see(/Keep it\?.*\n.*Keep it\?/);
  expect(await repository.read("a.md")).toContain("one\n");

  // What rules ask about says so; `d` refuses all that nothing was said of.
  terminal.type(`h${keys.enter}`);
  await terminal.see(/AGENTS\.md create\n +ask {2}control-files/);
  terminal.type("nn");
  await terminal.see("0 kept, 2 refused, 5 open");
  terminal.type("yn");
  await terminal.see("1 kept, 3 refused, 3 open");
  terminal.type("e");
  await terminal.see("✎ edited");
  terminal.type("d");
  await terminal.see("1 kept, 5 refused, 1 edited, 0 open");
  terminal.type(keys.enter);
  await terminal.see("Apply 2 hunks?");
  terminal.type(keys.enter);
  await terminal.see("Exit code 0; 2 of 6 changes were kept, 2 of them in part.");
  expect(await terminal.ended).toBe(0);
  expect(await repository.read("a.md")).toBe(`${lines.join("\n")}\n`.replace("one", "ONE"));
  expect(await repository.read("b.md")).toBe("1st\nsecond\n");
  expect([".gitignore", "AGENTS.md", "c.md", "dist"].map((name) => existsSync(repository.path(name)))).toEqual([
    false,
    false,
    true,
    false,
  ]);

  const undo = scene.gennai(["undo", "--kept"]);
  await undo.see("Undone:");
  expect(await repository.read("a.md")).toBe(`${lines.join("\n")}\n`);
  expect(existsSync(repository.path("b.md"))).toBe(false);
});
