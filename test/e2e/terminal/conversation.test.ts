import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { bash, call } from "@gennai/testkit/scripted-steps";
import { smallPng } from "@gennai/testkit/small-png";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { expect, test } from "vitest";
import { keys } from "./drawn-terminal.ts";
import { terminalScene } from "./terminal-scene.ts";

/** The field for a prompt, with nothing in it. */
const empty = /^› ?$/m;

test("a conversation is written once: 20,000 words, three widths, and what the terminal had before", async () => {
  const words = Array.from({ length: 20_000 }, (_, index) => `w${index}${index % 50 === 49 ? ".\n\n" : " "}`);
  await using scene = await terminalScene([[{ text: words.join("") }], [{ text: "and more" }]]);
  const terminal = scene.shell(
    `echo of before; exec ${scene.command} --backend scripted --model ${scene.state.path("model.json")}`,
  );
  // The line below is whole when the server has said the branch and what commands run in.
  await terminal.see(/main · model\.json · \S/);
  const before = terminal.written().length;
  terminal.type("g");
  await terminal.see("› g");
  expect(terminal.written().length - before).toBeLessThan(150);
  terminal.type(`o on${keys.enter}`);
  await terminal.see("w19999");
  await terminal.see(empty);
  const said = terminal.all();
  expect([...said.matchAll(/\bw(\d+)\b/g)].map(([, number]) => Number(number))).toEqual(words.map((_, index) => index));
  for (const columns of [40, 100]) {
    terminal.resize(columns, 30);
    terminal.type("x");
    await terminal.see(/^› x+$/m);
  }
  terminal.type(`${keys.control("c")}again${keys.enter}`);
  await terminal.see("and more");
  terminal.type(keys.control("d"));
  expect(await terminal.ended).toBe(0);
  expect(terminal.all()).toMatch(/^of before\n/);
  // Nothing of what was drawn is left between what was said.
  expect(terminal.all().match(/^.*model\.json.*$/gm)).toEqual(null);
  expect(terminal.all()).toMatch(/\ngennai --resume [\da-f-]{36}$/);
  expect(terminal.written()).not.toContain("\u001b[3J");
  expect(terminal.written()).not.toContain("\u001b[2J");
});

test("a paste of 400 lines is one mark in the prompt, and goes as it is", async () => {
  const lines = Array.from({ length: 400 }, (_, index) => `line ${index}`);
  await using scene = await terminalScene([[{ text: "read it" }]]);
  const terminal = scene.gennai();
  await terminal.see("model.json");
  terminal.type("look: ");
  terminal.paste(lines.join("\n"));
  await terminal.see("› look: [paste #1 +400 lines]");
  terminal.type(keys.enter);
  await terminal.see("read it");
  await terminal.see("388 more lines");
  const kept = readFileSync(scene.state.path("prompts.jsonl"), "utf8");
  expect(JSON.parse(kept)).toMatchObject({ prompt: `look: ${lines.join("\n")}`, workspace: scene.repository.root });
  terminal.type(keys.control("d"));
  await terminal.ended;
  // It is offered again, in this conversation gone on with.
  const next = scene.gennai(["--continue"]);
  await next.see("read it");
  next.type(keys.up);
  await next.see("› look: line 0");
});

test("a pasted path of a picture is a mark in the prompt, and the picture goes along", async () => {
  await using pictures = await temporaryDirectory();
  await writeFile(pictures.path("my shot.png"), smallPng);
  await using scene = await terminalScene([[{ text: "seen" }]]);
  const terminal = scene.gennai();
  await terminal.see("model.json");
  terminal.type("what is ");
  terminal.paste(`'${pictures.path("my shot.png")}'`);
  await terminal.see("› what is [image my shot.png]");
  terminal.type(keys.enter);
  await terminal.see("seen");
  terminal.type(keys.control("d"));
  await terminal.ended;
  const id = /--resume (\S+)/.exec(terminal.all())?.[1] ?? "";
  const exported = scene.gennai(["sessions", "export", id, "--out", "bundle"]);
  await exported.ended;
  expect(readFileSync(scene.repository.path("bundle"), "utf8")).toContain(smallPng.toString("base64"));
});

test("what is typed while a turn runs is told it, or taken back; Esc stops the turn", async () => {
  await using scene = await terminalScene([[bash("sleep 600"), { text: "never" }]]);
  const terminal = scene.gennai();
  await terminal.see("model.json");
  terminal.type(`wait${keys.enter}`);
  await terminal.see("● Bash sleep 600");
  terminal.type(`and the changelog${keys.enter}`);
  await terminal.see("⏎ and the changelog");
  terminal.type(keys.up);
  await terminal.see("› and the changelog");
  await expect.poll(() => terminal.screen()).not.toContain("⏎");
  terminal.type(`, too${keys.enter}`);
  await terminal.see("⏎ and the changelog, too");
  terminal.type(keys.escape);
  await terminal.see("■ stopped");
  // Nobody was told it: the person has it again.
  await terminal.see("› and the changelog, too");
});

test("what is typed before the session is open, and right behind it, is told in that order", async () => {
  await using scene = await terminalScene([[bash("sleep 600"), { text: "never" }]]);
  const terminal = scene.gennai();
  await terminal.see("starting");
  terminal.type(`wait${keys.enter}`);
  await terminal.see(/^› wait$/m);
  terminal.type(`and the changelog${keys.enter}`);
  await terminal.see("⏎ and the changelog");
  await terminal.see("● Bash sleep 600");
  // A command of the person's cannot run now, and is not lost.
  terminal.type(`!ls${keys.enter}`);
  await terminal.see("when this turn has ended");
  await terminal.see("› !ls");
  expect(terminal.all()).not.toContain("A turn is running");
});

test("escapes of a model, a command and a file's name do not reach the terminal", async () => {
  const hostile = "\u001b[2J\u001b]0;title\u0007\u001b]52;c;aGFsbG8=\u0007\u001b[31mred";
  await using scene = await terminalScene(
    [
      [
        { thinking: hostile },
        { text: `said ${hostile}\n\n` },
        call("Read", { file_path: `x${hostile}` }),
        bash(`printf '${hostile.replaceAll("\u001b", "\\033").replaceAll("\u0007", "\\007")}'`),
        { text: "end" },
      ],
    ],
    { "a.md": "colour\n", [`evil${hostile.replaceAll(/[/;]/g, "_")}.md`]: "x\n", "even.md": "x\n" },
  );
  const terminal = scene.gennai();
  await terminal.see("model.json");
  terminal.type("@ev");
  await terminal.see("even.md");
  expect(terminal.screen()).not.toContain("evil");
  terminal.type(`${keys.control("c")}go${keys.enter}`);
  await terminal.see(/^end$/m);
  terminal.type(keys.control("o") + keys.control("t"));
  await terminal.see("· [2J");
  const written = terminal.written();
  for (const escape of ["\u001b[2J", "\u001b]52", "\u001b]0;title", "\u001b[31mred"])
    expect(written).not.toContain(escape);
});

test("without a terminal that can be drawn on there are plain lines, printed once", async () => {
  await using scene = await terminalScene([[{ text: "## Done\n\n**bold**" }]]);
  for (const terminal of [
    scene.gennai([], { env: { TERM: "dumb" } }),
    scene.gennai(["--plain"], { env: { NO_COLOR: "1" } }),
  ]) {
    await terminal.see("/help shows what can be typed");
    terminal.type(`go${keys.enter}`);
    await terminal.see("**bold**");
    terminal.type(`/quit${keys.enter}`);
    expect(await terminal.ended).toBe(0);
    expect(terminal.written().replaceAll(/\u001b\[(?:\d+[GDC]|0?J|\?2004[hl])/g, "")).not.toContain("\u001b");
  }
});

test("a command of the person's runs without the model, and is taken back", async () => {
  await using scene = await terminalScene([[{ text: "nobody asks me" }]]);
  const terminal = scene.gennai();
  await terminal.see("model.json");
  terminal.type(`!echo one > mine.txt; cat mine.txt${keys.enter}`);
  await terminal.see(/✓ Bash .*\n {2}one$/m);
  await terminal.see(empty);
  expect(terminal.all()).toContain("› !echo one > mine.txt; cat mine.txt");
  expect(terminal.all()).not.toContain("nobody asks me");
  terminal.type(`/undo${keys.enter}`);
  await terminal.see(/[Uu]ndone/);
  terminal.type(keys.control("d"));
  expect(await terminal.ended).toBe(0);
});
