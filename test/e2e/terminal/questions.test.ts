import { bash, call } from "@gennai/testkit/scripted-steps";
import { expect, test } from "vitest";
import { serveGennai } from "../process/serve-gennai.ts";
import { keys } from "./drawn-terminal.ts";
import { terminalScene } from "./terminal-scene.ts";

const asks = bash('echo \'{"scripts":{"postinstall":"node x.js"}}\' > package.json; echo hi > b.txt');

test("what is typed when a question appears goes into the draft; a key after a pause answers", async () => {
  await using scene = await terminalScene([[asks, { text: "the end" }]]);
  const terminal = scene.gennai();
  await terminal.see("model.json");
  terminal.type(`make it${keys.enter}`);
  await terminal.see("● Bash");
  // Faster than the half second that a question asks for, from before it is shown until it was shown long enough.
  let typed = 0;
  for (let after = 0; after < 12; ) {
    terminal.type("y");
    typed++;
    await new Promise((resolve) => setTimeout(resolve, 100));
    if (terminal.screen().includes("Keep what was changed")) after++;
  }
  expect(terminal.screen()).toContain(`› ${"y".repeat(typed)}`);
  expect(terminal.screen()).not.toContain("keep change");
  await terminal.see("y keep change");
  terminal.paste("y");
  await terminal.see(`› ${"y".repeat(typed + 1)}`);
  await terminal.see("y keep change");
  terminal.type(keys.enter);
  await terminal.see("y keep change");
  await expect(scene.repository.read("package.json")).rejects.toThrow();
  await new Promise((resolve) => setTimeout(resolve, 600));
  terminal.type("1");
  await terminal.see("1 ☐ b.txt");
  await new Promise((resolve) => setTimeout(resolve, 600));
  terminal.type("y");
  await terminal.see("the end");
  expect(await scene.repository.read("package.json")).toContain("postinstall");
  await expect(scene.repository.read("b.txt")).rejects.toThrow();
  // The draft is back, and nobody got it.
  await terminal.see(`› ${"y".repeat(typed + 1)}`);
});

test("a no with a reason, all of it on a key, and who answered elsewhere", async () => {
  const turns = [{ steps: [asks, { text: "the end" }] }];
  await using scene = await terminalScene([]);
  await using _server = await serveGennai({
    workspace: scene.repository,
    stateDirectory: scene.state.root,
    script: turns,
    args: ["--commands", "auto"],
  });
  const one = scene.gennai(["run"]);
  await one.see(ready);
  one.type(`make it${keys.enter}`);
  await one.see("y keep change");
  const second = scene.gennai(["run", "--continue"]);
  await second.see("y keep change");
  one.type("d");
  await expect.poll(() => one.all()).toContain("exactly");
  second.type("N");
  await second.see("why not?");
  second.type(`too much${keys.enter}`);
  await second.see("denied by you, here");
  await one.see("denied by you, in another window or terminal");
  await one.see("the end");
});

test("what a person answers the model stays to be read", async () => {
  const questions = [
    { question: "Which flag first?", header: "Flag", options: [{ label: "int" }, { label: "string" }] },
    { question: "How is it named?" },
    { question: "Where?" },
  ];
  await using scene = await terminalScene([[call("AskUser", { questions }), { text: "the end" }]]);
  const terminal = scene.gennai();
  await terminal.see("model.json");
  terminal.type(`begin${keys.enter}`);
  for (const [shown, answer] of [
    ["Which flag", "2"],
    ["How is it", "by its kind"],
    ["Where?", ""],
  ] as const) {
    await terminal.see(shown);
    await terminal.see(/^\? /m);
    terminal.type(`${answer}${keys.enter}`);
  }
  await terminal.see("the end");
  for (const line of ["Flag · string", "How is it named? · by its kind", "Where? · left to the model"])
    expect(terminal.screen()).toContain(line);
});

test("a server that is killed: the draft stays, the turn is interrupted, and /again goes on with it", async () => {
  const turns = [{ steps: [bash("sleep 600"), { text: "went on" }] }];
  await using scene = await terminalScene([]);
  await using server = await serveGennai({
    workspace: scene.repository,
    stateDirectory: scene.state.root,
    script: turns,
    args: ["--commands", "auto"],
  });
  const terminal = scene.gennai(["run"]);
  await terminal.see(ready);
  terminal.type(`wait${keys.enter}`);
  await terminal.see("● Bash sleep 600");
  terminal.type("my draft");
  await terminal.see("› my draft");
  await server.kill();
  await terminal.see("reconnecting, try");
  await server.restart();
  await terminal.see("/again goes on with it");
  await terminal.see("› my draft");
  terminal.type(`${keys.control("c")}/again${keys.enter}`);
  await terminal.see("went on");
});

test("a server that does not come back is given up after five tries, and tried again by Enter", async () => {
  await using scene = await terminalScene([]);
  await using server = await serveGennai({ workspace: scene.repository, stateDirectory: scene.state.root });
  const terminal = scene.gennai(["run"]);
  await terminal.see(ready);
  terminal.type("my draft");
  await server.kill();
  await terminal.see("reconnecting, try 5");
  await terminal.see("the server is gone: Enter tries again");
  await server.restart();
  terminal.type(`${keys.control("c")}list the files${keys.enter}`);
  await terminal.see("a.md");
  await expect.poll(() => terminal.screen()).not.toContain("the server is gone: Enter");
});

test("somebody who looks elsewhere is called when a question waits, and nobody else", async () => {
  await using scene = await terminalScene([[asks, { text: "the end" }]]);
  const env = { KITTY_WINDOW_ID: "1" };
  const terminal = scene.gennai([], { env });
  await terminal.see("model.json");
  terminal.type(`make it${keys.enter}`);
  await terminal.see("y keep change");
  expect(terminal.written()).not.toContain("\u001b]9;");
  expect(terminal.written()).toContain("\u001b]0;? gennai, ");
  terminal.type("\u001b[O");
  terminal.type("n");
  await terminal.see("the end");
  await expect.poll(() => terminal.written()).toContain("\u001b]9;Gennai has finished.\u0007");
});

/** The branch, when the session is open. */
const ready = /^main · /m;
