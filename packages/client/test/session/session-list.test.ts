import { expect, test } from "vitest";
import { listForPerson, type SessionSummary, sessionLine, sessionWords, stateOf } from "#session/session-list";
import { clientOf } from "../fake-service.ts";

const idle: SessionSummary = {
  sessionId: "s1",
  workingDir: "/home/ada/shop",
  title: "Mend the mill",
  created: "2026-11-30T17:00:00.000Z",
  updated: "2026-11-30T17:45:10.000Z",
  runningTurnId: "",
  guardedAgent: "",
  branch: "",
  question: "",
  unseenFiles: 0,
};
const working = { runningTurnId: "t1" };
const waiting = { ...working, question: "Run `npm test`" };

test.each<[string, Partial<SessionSummary>, string, string]>([
  ["nothing to say", {}, "idle", ""],
  ["a branch", { branch: "ai-agent/mill" }, "idle", "ai-agent/mill"],
  ["a turn that runs", working, "working", "Works"],
  ["a question", waiting, "waiting", "Waits for you: Run `npm test`"],
  ["a question without a turn", { question: "Which colour?" }, "waiting", "Waits for you: Which colour?"],
  ["one changed file", { unseenFiles: 1 }, "idle", "1 file to look at"],
  ["another folder", { workingDir: "/home/ada/mill/" }, "idle", "mill"],
  ["another folder on Windows", { workingDir: "C:\\work\\mill", branch: "main" }, "idle", "mill on main"],
  [
    "all of it",
    { ...waiting, guardedAgent: "claude-code", workingDir: "/home/ada/mill", branch: "main", unseenFiles: 3 },
    "waiting",
    "Waits for you: Run `npm test` · claude-code · mill on main · 3 files to look at",
  ],
])("words of a session: %s", (_name, change, state, words) => {
  const session = { ...idle, ...change };
  expect([stateOf(session), sessionWords(session, "/home/ada/shop")]).toEqual([state, words]);
});

test.each<[string, string, string]>([
  ["of a folder", "/home/ada/shop", "s1  2026-11-30 17:45  Mend the mill  Works"],
  ["of every folder", "", "s1  2026-11-30 17:45  Mend the mill  /home/ada/shop  Works"],
])("the line of a session in a list %s", (_name, here, line) => {
  expect(sessionLine({ ...idle, ...working }, here)).toBe(line);
});

test.each<[string, boolean, readonly string[]]>([
  ["here", false, ["asks", "new", "old"]],
  ["and elsewhere", true, ["asks", "asks elsewhere", "new", "old", "works elsewhere"]],
])("a person is shown first what waits for an answer, %s", async (_name, elsewhere, ids) => {
  const here = [{ sessionId: "new" }, { sessionId: "old" }, { sessionId: "asks", question: "Which colour?" }];
  const others = [
    { sessionId: "idle elsewhere" },
    { sessionId: "works elsewhere", ...working },
    { sessionId: "asks elsewhere", ...waiting },
  ];
  const client = clientOf({
    listSessions: ({ workingDir, limit }) => ({
      sessions: (workingDir === "" ? [...here, ...others] : here).slice(0, limit),
    }),
  });
  const { signal } = new AbortController();
  const list = await listForPerson(client, "/home/ada/shop", { elsewhere, limit: 3, signal });
  expect(list.map(({ sessionId }) => sessionId)).toEqual(ids);
});
