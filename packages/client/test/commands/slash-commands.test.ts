import type { ReportedSettings } from "@gennai/protocol/model/session/session-settings";
import { expect, test } from "vitest";
import type { CommandPlace } from "#commands/command";
import { slashCommands, typedCommand, usersCommand } from "#commands/slash-commands";
import type { AgentClient, GovernanceClient } from "#connection/connection";

const place: CommandPlace = {
  session: undefined,
  // No command of these tests asks it.
  governance: {} as GovernanceClient,
  userName: "ada",
  views: new Set(),
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

test("a client is offered what it can show and do, and no second command of a name", () => {
  const names = (more: Partial<CommandPlace>) => slashCommands({ ...place, ...more }).map(({ name }) => name);
  const always = [
    ...["proposal", "branch", "mode", "model", "again", "undo", "todos", "background", "compact"],
    ...["intent", "rules", "read-only", "help", "code", "notes"],
  ];
  expect(names({})).toEqual(always);
  const more = (each: Partial<CommandPlace>) => names(each).filter((name) => !always.includes(name));
  expect(more({ views: new Set(["attempts", "checkpoints", "plan", "review", "sessions"]) })).toEqual([
    ...["plan", "attempts", "review", "checkpoints", "resume"],
  ]);
  expect(more({ openSession: async () => {} })).toEqual(["new", "fork", "resume"]);
  expect(more({ useScenario: () => {}, quit: () => {} })).toEqual(["scenario", "quit"]);
});

test.for([
  ["/attempts", { type: "show", view: "attempts", text: "", count: 3 }],
  ["/attempts 2 do it", { type: "show", view: "attempts", text: "do it", count: 2 }],
  ["/attempts do it", { type: "show", view: "attempts", text: "do it", count: 3 }],
  ["/attempts 5", { type: "said", text: "Say what to try: /attempts 5 PROMPT" }],
  ["/attempts 9 do it", { type: "said", text: "A prompt is tried 2 to 8 times." }],
  ["/plan a goal", { type: "show", view: "plan", text: "a goal", count: 0 }],
  ["/branch do it", { type: "prompt", text: "do it", scenario: "" }],
  ["/branch", { type: "said", text: "Branch Mode from now on." }],
  ["/mode", { type: "said", text: "Branch Mode." }],
  ["/mode plan", { type: "show", view: "plan", text: "", count: 0 }],
  ["/mode other", { type: "said", text: "There are three modes: branch, proposal and plan." }],
  ["/background", { type: "said", text: "Nothing runs in the background." }],
  ["/again", { type: "said", text: "No turn was cut off here. Write a prompt." }],
  ["/compact", { type: "said", text: "There is nothing to shorten yet." }],
  ["/model", { type: "said", text: "The model is not chosen; /model NAME uses another one." }],
  ["/read-only off", { type: "said", text: "Say `/read-only on`, or `/read-only off REASON`." }],
  ["/code", { type: "said", text: "Write a prompt after it: /code PROMPT" }],
  [
    "/notes for 1.2",
    {
      type: "prompt",
      text: "Read the skill notes with the Skill tool first, and do as it says.\n\nfor 1.2",
      scenario: "",
    },
  ],
  ["/code do it", { type: "prompt", text: "do it", scenario: "CODE" }],
] as const)("%s gives %j", async ([line, result]) => {
  expect(await run(line, { views: new Set(["attempts", "plan"]) })).toEqual(result);
});

test("settings that were refused are not said to be in force", async () => {
  const refused = { changeSettings: async () => false };
  expect(await run("/proposal do it", refused)).toEqual({ type: "said", text: "" });
  expect(await run("/model other", refused)).toEqual({ type: "said", text: "" });
});

test("a turn that was cut off is gone on with", async () => {
  const cutOff = { cutOffTurn: async () => ({ turnId: "t1" }) };
  expect(await run("/again", cutOff)).toEqual({ type: "continue", turnId: "t1" });
});

test("another session is opened where a client can, and its copy first", async () => {
  const opened: unknown[] = [];
  const client = { forkSession: async () => ({ sessionId: "copy" }) } as unknown as AgentClient;
  const session = { sessionId: "s", workingDir: "/w", client, settings: {} as ReportedSettings };
  const openSession = (sessionId: string | undefined) => void opened.push(sessionId);
  for (const line of ["/new", "/fork", "/resume other"]) {
    expect(await run(line, { session, openSession })).toEqual({ type: "said", text: "" });
  }
  expect(opened).toEqual([undefined, "copy", "other"]);
});

test.for([
  ["!npm test", "npm test"],
  ["  ! npm test \n", "npm test"],
  ["!a\nb", "a\nb"],
  ["!", undefined],
  ["look!", undefined],
  ["", undefined],
] as const)("%j is the user's command %j", ([prompt, command]) => {
  expect(usersCommand(prompt)).toBe(command);
});
