import { expect, test } from "vitest";
import type { GovernanceClient } from "#connection/connection";
import { type CommandPlace, slashCommands, typedCommand } from "../src/slash-commands.ts";

const place: CommandPlace = {
  session: undefined,
  // No command of these tests asks it.
  governance: {} as GovernanceClient,
  userName: "ada",
  abilities: new Set(),
  mode: "Branch",
  scenarios: [
    { name: "CODE", description: "Codes" },
    { name: "UNDO", description: "A name that is taken" },
    { name: "no name", description: "" },
  ],
  skills: [{ name: "notes", description: "How notes are written" }],
  signal: new AbortController().signal,
  cutOffTurn: async () => undefined,
  undo: async () => "",
  changeSettings: async () => true,
};

function run(line: string, more: Partial<CommandPlace> = {}) {
  const typed = typedCommand(line);
  const at = { ...place, ...more };
  return slashCommands(at)
    .find(({ name }) => name === typed?.name)
    ?.run(at, typed?.text ?? "");
}

test.for([
  ["/plan", { name: "plan", text: "" }],
  [" /Plan  a goal\nand more ", { name: "plan", text: "a goal\nand more" }],
  ["/etc/hosts: what is it?", undefined],
  ["look at /plan", undefined],
  ["/ 2", undefined],
  ["//x", undefined],
  ["", undefined],
] as const)("%j is typed as %j", ([line, typed]) => {
  expect(typedCommand(line)).toEqual(typed);
});

test("a client is offered what it can show, and no second command of a name", () => {
  const names = (abilities: CommandPlace["abilities"]) =>
    slashCommands({ ...place, abilities }).map(({ name }) => name);
  const always = ["proposal", "branch", "mode", "undo", "todos", "model", "compact", "intent", "read-only", "help"];
  expect(names(new Set())).toEqual([...always, "code", "notes"]);
  expect(names(new Set(["attempts", "continue", "models", "plan", "scenario"]))).toEqual(
    expect.arrayContaining(["attempts", "again", "plan", "scenario"]),
  );
});

test.for([
  ["/attempts", { type: "attempts", prompt: "", count: 3 }],
  ["/attempts 2 do it", { type: "attempts", prompt: "do it", count: 2 }],
  ["/attempts do it", { type: "attempts", prompt: "do it", count: 3 }],
  ["/attempts 5", { type: "said", text: "Say what to try: /attempts 5 PROMPT" }],
  ["/attempts 9 do it", { type: "said", text: "A prompt is tried 2 to 8 times." }],
  ["/plan a goal", { type: "plan", goal: "a goal" }],
  ["/branch do it", { type: "prompt", text: "do it", scenario: "" }],
  ["/branch", { type: "said", text: "Branch Mode from now on." }],
  ["/mode", { type: "said", text: "Branch Mode." }],
  ["/mode plan", { type: "plan", goal: "" }],
  ["/mode other", { type: "said", text: "There are three modes: branch, proposal and plan." }],
  ["/again", { type: "said", text: "No turn was cut off here. Say what shall be done." }],
  ["/compact", { type: "said", text: "There is nothing to shorten yet." }],
  ["/model", { type: "said", text: "The model is not chosen; /model NAME uses another one." }],
  ["/read-only off", { type: "said", text: "Say `/read-only on`, or `/read-only off REASON`." }],
  ["/code", { type: "said", text: "Say what shall be done: /code PROMPT" }],
  ["/code do it", { type: "prompt", text: "do it", scenario: "CODE" }],
] as const)("%s gives %j", async ([line, result]) => {
  expect(await run(line, { abilities: new Set(["attempts", "continue", "plan"]) })).toEqual(result);
});

test("settings that were refused are not said to be in force", async () => {
  const refused = { changeSettings: async () => false };
  expect(await run("/proposal do it", refused)).toEqual({ type: "said", text: "" });
  expect(await run("/model other", refused)).toEqual({ type: "said", text: "" });
});

test("a turn that was cut off is gone on with", async () => {
  const cutOff = { abilities: new Set(["continue"] as const), cutOffTurn: async () => ({ turnId: "t1" }) };
  expect(await run("/again", cutOff)).toEqual({ type: "continue", turnId: "t1" });
});
